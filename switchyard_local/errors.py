"""Errors of the local cloud, worded for the person who started it."""

import os
from pathlib import Path
from typing import Final

SHOWN_LINES = 15

INSTALLED: Final = (Path(__file__).resolve().parent / "source").is_dir()
"""Whether this is an installed wheel, which has no Makefile, and not the repository."""

FOLDER_VARIABLE: Final = "SWITCHYARD_FOLDER"
"""This variable names the folder with the data of a local cloud."""


class CloudError(Exception):
    """The local cloud cannot go on; the message is a sentence that says what to do."""


def not_running() -> str:
    chosen = os.environ.get(FOLDER_VARIABLE)
    where = f" in {chosen} ({FOLDER_VARIABLE})" if chosen else ""
    start = "`switchyard up`" if INSTALLED else "`switchyard up` or `make up`"
    return f"The local cloud{where} is not running; start it with {start}."


def refused_by_system(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen and str(error.filename).startswith(chosen):
        where = f" ({error.filename}, below {FOLDER_VARIABLE})"
    return f"The operating system refused: {error.strerror or error}{where}."


def failure_with_log(what_happened: str, log: Path) -> CloudError:
    return CloudError(f"{what_happened}\n{last_lines(log)}\nThe whole log: {log}")


def last_lines(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return "\n".join(f"    {line}" for line in lines[-SHOWN_LINES:])
