"""How many tasks each tenant's unsettled jobs have."""

from collections.abc import Sequence
from typing import Protocol

from switchyard.domain.access.open_tasks import OpenJob
from switchyard.domain.ids import JobRef


class OpenTasks(Protocol):
    """Counts jobs from before they are written until they have settled."""

    def of_tenant(self, tenant: str) -> Sequence[OpenJob]:
        """Return the tenant's counted jobs, by their ids. The read is consistent."""

    def note(self, ref: JobRef, *, run: int, tasks: int, now_ms: int) -> None:
        """Count the job with so many tasks.

        What arrives late changes nothing: a later run counts more than an earlier one, and within
        a run the larger number.
        """

    def close(self, ref: JobRef, *, run: int) -> None:
        """Count the job no more, unless it is counted for a later run."""
