"""What holds for every test, however pytest was started."""

import os
import sys
from pathlib import Path

# jsii looks for Node on the PATH; the venv's is the one that every machine has.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
for name in [name for name in os.environ if name.startswith(("AWS_", "ANTHROPIC_", "CLAUDE_"))]:
    del os.environ[name]  # no test may find the developer's account or credential
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
