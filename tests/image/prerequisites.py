"""What this machine needs before the image can be built and run without Docker."""

import os
import shutil
import sys
from collections.abc import Callable
from typing import Final

TOOLS: Final = ("buildah", "runc", "mmdebstrap")


def missing(
    which: Callable[[str], str | None] = shutil.which,
    *,
    user_id: int | None = None,
    platform: str = sys.platform,
) -> list[str]:
    """Return a sentence for each thing that is missing, with what to do about it."""
    if platform != "linux":
        return [f"The image runs on Linux only, and this is {platform}: use a Linux machine."]
    problems = []
    if (os.geteuid() if user_id is None else user_id) != 0:
        problems.append("Containers with several users need root: try `sudo make image-check`.")
    absent = [tool for tool in TOOLS if which(tool) is None]
    if absent:
        problems.append(
            f"Not installed: {', '.join(absent)}. On Debian and Ubuntu: "
            f"`apt-get install --no-install-recommends {' '.join(absent)}`."
        )
    return problems
