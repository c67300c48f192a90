"""Marks tenants that have work in a group, before their tasks get a key in the ready index.

Workers look at marked tenants only. A mark that is set first may be needless; one that is set
after the key could be missing when a process dies in between.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from switchyard.domain.scheduling.ready import group_of
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, TenantClocks

FRESH_SECONDS: Final = 60.0
"""For so long a mark of this process needs not be set again."""

Place = tuple[str, str]
"""A group and a tenant."""


class Marks:
    def __init__(self, clocks: TenantClocks, clock: Clock) -> None:
        self._clocks = clocks
        self._clock = clock
        self._set_at: dict[Place, float] = {}

    @contextmanager
    def around(self, places: Collection[Place]) -> Iterator[None]:
        """Mark tenants while the caller writes the keys of their tasks.

        A key that was answered long after its mark may be younger than the mark's removal: the mark
        is set again. Raise `Unavailable`: then nothing must be written.
        """
        for place in sorted(places):
            self._set(place)
        try:
            yield
        finally:
            for place in sorted(places):
                self._set(place)

    def _set(self, place: Place) -> None:
        """Mark a tenant, unless this process has done so within the last minute."""
        now = self._clock.monotonic()
        if now - self._set_at.get(place, float("-inf")) < FRESH_SECONDS:
            return
        group, tenant = place
        self._clocks.mark(group, tenant, now_ms=self._clock.now_ms())
        self._set_at[place] = now


def places_of(tasks: Iterable[Task]) -> set[Place]:
    """Return where tasks are in the index when they may run; only those that workers run are."""
    return {
        (group_of(task.queue), task.ref.tenant)
        for task in tasks
        if task.kind is None and not task.ref.hidden
    }


MOST_READY_A_SECOND: Final = 300
"""The most tasks of one tenant in one group that become ready in a second: a partition of an index
takes a thousand writes a second, and beyond it renewals of leases would be refused as well."""
MADE_READY_AT_ONCE: Final = 100


class ReadyPace:
    """Lets a process make no more tasks ready than a partition of the index takes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._free_at: dict[Place, float] = {}

    def wait(self, tasks: Iterable[Task]) -> None:
        """Wait until so many more tasks may be made ready; a second's worth may come at once."""
        counts = Counter(place for task in tasks for place in places_of([task]))
        now = self._clock.monotonic()
        for place, count in counts.items():
            begins = max(self._free_at.get(place, now - 1.0), now - 1.0)
            self._free_at[place] = begins + count / MOST_READY_A_SECOND
        pause = max((self._free_at[place] - now for place in counts), default=0.0)
        if pause > 0:
            self._clock.sleep(pause)
