"""Functions that a definition may apply to a step's output, by name (`processOutput`).

A definition names one (`processOutput`); it cannot bring code along. To add one to an image, put a
module into `switchyard_worker/child/processors/`:

    @processing("upper-case")
    def upper_case(output: Any) -> Any: ...

The result has to match the step's output schema, like the answer that it was made from.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

Process = Callable[[Any], Any]
P = TypeVar("P", bound=Process)

_PROCESSES: Final[dict[str, Process]] = {}


class UnknownProcess(ValueError):
    def __init__(self, name: str) -> None:
        known = ", ".join(sorted(_PROCESSES))
        super().__init__(f"this worker knows no processOutput {name!r}, but: {known}")


class DuplicateProcess(TypeError):
    """Two functions are registered with the same name, which is a bug in an image."""


def processing(name: str) -> Callable[[P], P]:
    def register(process: P) -> P:
        if name in _PROCESSES:
            raise DuplicateProcess(f"there are two processes {name!r}")
        _PROCESSES[name] = process
        return process

    return register


def process_named(name: str) -> Process:
    """Raise `UnknownProcess`."""
    import importlib  # noqa: PLC0415 - most tasks name none
    import pkgutil  # noqa: PLC0415

    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    if name not in _PROCESSES:
        raise UnknownProcess(name)
    return _PROCESSES[name]
