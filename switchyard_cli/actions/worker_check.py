"""Checks whether a worker runs that does the tasks of the local cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from switchyard_cli.errors import Unreachable
from switchyard_local.errors import CloudError

if TYPE_CHECKING:
    from switchyard.ports import Clock
    from switchyard_cli.services import Cloud

SECONDS_BETWEEN_LOOKS: Final = 3.0


class WorkerCheck:
    def __init__(self, cloud: Cloud, clock: Clock) -> None:
        self._cloud = cloud
        self._clock = clock
        self._next_look = clock.monotonic()
        self._was_missing = False

    def __call__(self) -> None:
        """Raise `Unreachable` if the worker is missing twice in a row: `up` may be replacing it."""
        now = self._clock.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + SECONDS_BETWEEN_LOOKS
        try:
            self._cloud.require_worker()
            self._was_missing = False
        except CloudError as error:
            if self._was_missing:
                raise Unreachable(str(error)) from error
            self._was_missing = True
