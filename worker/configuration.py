"""Reads the worker's settings, and says in plain words what is wrong with them."""

import os
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from switchyard.settings import WorkerSettings
from worker.lease_timing import LeaseTiming
from worker.privileges import check_users, effective_capabilities
from worker.writable import check_writable


class Misconfigured(Exception):
    """One sentence a line, one line a variable."""


@dataclass(frozen=True, slots=True)
class Configuration:
    settings: WorkerSettings
    timing: LeaseTiming


def read_configuration() -> Configuration:
    try:
        settings = WorkerSettings()
        check_users(
            os.environ,
            capabilities=effective_capabilities(),
            slots=settings.max_concurrent_claude,
            deletes_files=settings.delete_files_after_upload,
        )
        check_writable(settings.output_folder, os.environ)
        return Configuration(settings, LeaseTiming.of(settings))
    except ValidationError as error:
        raise Misconfigured("\n".join(map(_sentence, error.errors()))) from error
    except ValueError as error:
        raise Misconfigured(f"{error}.") from error


def _sentence(problem: Any) -> str:
    variable = str(problem["loc"][0]).upper()
    if problem["type"] == "missing":
        return f"{variable} is not set."
    return f"{variable} is {problem['input']!r}: {problem['msg']}."
