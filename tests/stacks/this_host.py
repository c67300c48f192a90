"""The machine that the tests run on, as a platform to build the dependency layer for."""

import sys
import sysconfig
from typing import Final

from stacks.stage import PythonPlatform

THIS_HOST: Final = PythonPlatform(
    name=f"{sysconfig.get_platform()}-python{sys.version_info.major}.{sys.version_info.minor}",
    # Compiled once: nothing that imports it has to compile it again.
    uv_options=("--python", sys.executable, "--compile-bytecode"),
)
