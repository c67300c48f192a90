"""Filters the jobs of a tenant for a caller."""

from dataclasses import dataclass

from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    status: JobStatus | None = None
    tag: str | None = None
    """The tag `key:value`, as one text: a key or a value may contain colons."""

    @property
    def takes_all(self) -> bool:
        return self.status is None and self.tag is None

    def takes(self, job: Job) -> bool:
        if self.status is not None and job.status != self.status:
            return False
        return self.tag is None or self.tag in {f"{k}:{v}" for k, v in job.tags.items()}
