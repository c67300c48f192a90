"""Knows which functions this worker serves; it reads their files, and imports none of them."""

from collections.abc import Sequence
from typing import Final

from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.health.unserved import code_name
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.postponement import decide_unserved
from switchyard.domain.tasks.retries import GiveUp
from switchyard.domain.tasks.task import Task
from switchyard.functions.errors import FunctionsError
from switchyard.functions.packages import (
    Package,
    Stamp,
    all_located,
    content_hash,
    stamp_of,
)
from switchyard.observability import get_logger
from switchyard_worker.boundary import Code
from switchyard_worker.parent.attempts.verdict import HandedBack, Verdict, failed
from switchyard_worker.parent.coroutines import Runtime

logger = get_logger("worker")

MOST_NAMED: Final = 20
"""The most packages that a worker names where it says which ones it serves."""


class NotServed(Exception):
    """Another worker has to run the task: this one lacks the code that its definition names."""

    def __init__(self, code: str, served: Sequence[str]) -> None:
        here = ", ".join(served) if served else "no functions"
        super().__init__(
            f"no worker that serves {code} has taken it; this worker serves {here}; "
            "if the code changed: `definitions push`, then `redrive --latest`"
        )
        self.code = code


class ServedFunctions:
    """The packages that a worker has, each with the hash of its present content."""

    def __init__(self, packages: Sequence[Package] = ()) -> None:
        self._packages = {package.name: package for package in packages}
        self._hashes: dict[str, tuple[Stamp, str]] = {}

    @classmethod
    def at(cls, places: str) -> "ServedFunctions":
        """Find packages at paths or names with commas between, and those installed as entry points.

        Raise `FunctionsError`.
        """
        return cls(all_located([place for place in map(str.strip, places.split(",")) if place]))

    def code_for(self, definition: TaskDefinition) -> Code:
        """Return what a child has to run for a definition of code. Raise `NotServed`."""
        if definition.command is not None:
            return Code(command=definition.command)
        function, wanted = definition.function or "", definition.code_hash or ""
        name = function.partition(":")[0].partition(".")[0]
        if self._hash(name) != wanted:
            raise NotServed(code_name(function, wanted), self.names())
        package = self._packages[name]
        return Code(function=function, package=name, path=str(package.path))

    def names(self) -> tuple[str, ...]:
        """Return the packages as `name@hash`, for people."""
        hashes = {name: self._hash(name) for name in sorted(self._packages)[:MOST_NAMED]}
        return tuple(code_name(name, found) for name, found in hashes.items() if found)

    def _hash(self, name: str) -> str | None:
        """Return the hash of a package; its files are read again only if they were written to."""
        package = self._packages.get(name)
        if package is None:
            return None
        try:
            stamp = stamp_of(package)
            known = self._hashes.get(name)
            if known is None or known[0] != stamp:
                known = self._hashes[name] = (stamp, content_hash(package))
        except (FunctionsError, OSError) as problem:
            logger.warning("functions cannot be read", extra={"error": str(problem)})
            return None
        return known[1]


def left_to_others(task: Task, missing: NotServed, runtime: Runtime) -> Verdict:
    """Leave a task to a worker that has its code, after a pause, or give up after a day."""
    decision = decide_unserved(task, now_ms=runtime.clock.now_ms())
    if isinstance(decision, GiveUp):
        error = f"{decision.reason}: {missing}"
        return failed(category=FailureCategory.NOT_FOUND, error=error)
    delay = runtime.randomness.between(decision.delay_ms, decision.longest_delay_ms)
    return HandedBack(reason=decision.reason, delay_ms=round(delay), error=str(missing))
