"""A job as it changes, until it has settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from switchyard.client.pacing import Pacing
from switchyard.client.statuses import FINAL
from switchyard.domain.backoff import Backoff

if TYPE_CHECKING:
    from switchyard.contracts.jobs import JobView
    from switchyard.ports import Clock

SLOWEST_POLL_SECONDS: Final = 1.0
POLLS: Final = Backoff(first=0.33, longest=SLOWEST_POLL_SECONDS, factor=1.1)
TASKS_PER_SECOND: Final = 1_000  # an answer has them all: large ones are asked for less often


def as_it_changes(job: JobView, look: Callable[[], JobView], clock: Clock) -> Iterator[JobView]:
    """Yield this view of the job and every further one, the last at its end."""
    pacing = Pacing(clock, POLLS)
    changed = True
    yield job
    while job.status not in FINAL:
        pacing.rest(news=changed, at_least=job.total_tasks / TASKS_PER_SECOND)
        latest = look()
        changed = latest != job
        job = latest
        yield job
