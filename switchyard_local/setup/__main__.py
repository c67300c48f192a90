"""`python3 switchyard_local/prepare.py [options]`: everything Switchyard needs, inside `.venv`."""

import argparse
import importlib.util
import sys
from pathlib import Path

from switchyard_local.lock import held
from switchyard_local.setup.errors import SetupError
from switchyard_local.setup.runner import run_step
from switchyard_local.setup.stamp import Stamp, digest_of, read_stamp, write_stamp
from switchyard_local.setup.steps import Step, environment_steps, package_steps

ROOT = Path(__file__).resolve().parents[2]
PINS = (
    "requirements.txt",
    "switchyard_worker/requirements.txt",
    "pyproject.toml",
    "package-lock.json",
)
INTERRUPTED = 130


def main() -> int:
    parser = argparse.ArgumentParser(prog="switchyard_local/prepare.py", description=__doc__)
    parser.add_argument("--claude", action="store_true", help="also install the Claude agent")
    parser.add_argument(
        "--this-python", action="store_true", help="make .venv anew if it has another Python"
    )
    asked = parser.parse_args()
    try:
        with held(ROOT / ".venv.lock", when_waiting=say_waiting):
            set_up(ROOT, claude=asked.claude, this_python=asked.this_python)
    except SetupError as error:
        return failed(str(error))
    except OSError as error:
        return failed(
            f"Cannot write {error.filename or ROOT}: {error.strerror}. "
            "Check the disk and the folder's owner, then try again."
        )
    except KeyboardInterrupt:
        print("\nInterrupted; the next setup starts over.", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    return 0


def set_up(root: Path, *, claude: bool, this_python: bool = False) -> None:
    venv = root / ".venv"
    stamp_file = venv / "switchyard-setup.json"
    present = read_stamp(stamp_file) if (venv / "bin" / "python").exists() else None
    if this_python and not has_this_python(venv):
        present = None  # tests for one Python must not run with another
    keeps_claude = claude or (present is not None and present.claude)
    wanted = Stamp(str(venv), digest_of(root / name for name in PINS), keeps_claude)
    if present and present.serves(wanted):
        return
    steps = steps_from(present, wanted, root, venv)
    print("Setting up .venv (once, under a minute)", flush=True)  # noqa: T201
    log = start_log(root)
    stamp_file.unlink(missing_ok=True)
    for step in steps:
        run_step(step, root=root, venv=venv, log=log)
    write_stamp(stamp_file, wanted)


def has_this_python(venv: Path) -> bool:
    return (venv / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}").exists()


def steps_from(present: Stamp | None, wanted: Stamp, root: Path, venv: Path) -> list[Step]:
    """An unfinished or moved environment is made anew, a complete one is brought up to date."""
    packages = package_steps(root, venv, claude=wanted.claude)
    if present and present.location == wanted.location:
        return packages
    require_venv_module()
    return [*environment_steps(root, venv), *packages]


def require_venv_module() -> None:
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise SetupError(
        f"{sys.executable} cannot create virtual environments. Install its venv module "
        f"(Debian and Ubuntu: sudo apt install python{version}-venv), then try again."
    )


def start_log(root: Path) -> Path:
    log = root / ".switchyard" / "logs" / "setup.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    return log


def say_waiting() -> None:
    print("Waiting for another setup of this folder to finish ...", flush=True)  # noqa: T201


def failed(reason: str) -> int:
    print(reason, file=sys.stderr)  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(main())
