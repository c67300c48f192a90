"""Errors of the local cloud, worded for the person who started it."""

from pathlib import Path

SHOWN_LINES = 15

NOT_RUNNING = "The local cloud is not running; start it with `switchyard up` or `make up`."


class CloudError(Exception):
    """The local cloud cannot go on; the message is a sentence that says what to do."""


def refused_by_system(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"The operating system refused: {error.strerror or error}{where}."


def failure_with_log(what_happened: str, log: Path) -> CloudError:
    return CloudError(f"{what_happened}\n{last_lines(log)}\nThe whole log: {log}")


def last_lines(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return "\n".join(f"    {line}" for line in lines[-SHOWN_LINES:])
