"""Is anybody there to do the tasks of the local cloud?"""

from typing import Final

from cli.errors import Unreachable
from cli.outside import Cloud
from local.errors import CloudError
from switchyard.ports import Clock

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
