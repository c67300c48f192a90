"""Deletes a task definition that no trigger and no unsettled job uses.

What was looked at may be outdated when the definition goes: a job submitted in the same moment has
pinned a version of it. That job runs all the same, because versions are never removed; the refusal
is there for people, who would rather not delete what is in use.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from switchyard.contracts.definitions import DefinitionDeleted
from switchyard.domain.errors import Conflict, DefinitionInUse
from switchyard.domain.jobs.job import Job
from switchyard.ports import Clock, DefinitionStore, JobStore, TriggerStore
from switchyard.usecases.definitions.read_definitions import read_definition
from switchyard.usecases.jobs.list_jobs import listed_jobs

MOST_NAMED: Final = 5
SECONDS: Final = 20  # Lambda ends the call at 30 s


@dataclass(frozen=True, kw_only=True)
class DefinitionRemover:
    definitions: DefinitionStore
    jobs: JobStore
    triggers: TriggerStore
    clock: Clock

    def delete(self, tenant: str, name: str) -> DefinitionDeleted:
        """Raise `UnknownDefinition`, `DefinitionInUse`, or `Conflict` if that is unknown."""
        read_definition(tenant, name, definitions=self.definitions)
        users = list(islice(self._users(tenant, name), MOST_NAMED))
        if users:
            raise DefinitionInUse(name, users)
        last = self.definitions.delete(tenant, name, now_ms=self.clock.now_ms())
        return DefinitionDeleted(name=name, last_version=last.version)

    def _users(self, tenant: str, name: str) -> Iterator[str]:
        for applied in self.triggers.all(tenant):
            if name in applied.trigger.definitions:
                yield f"the trigger {applied.trigger.name}"
        for job in self._jobs_that_use(tenant, name):
            yield job.ref.job_id

    def _jobs_that_use(self, tenant: str, name: str) -> Iterator[Job]:
        until = self.clock.monotonic() + SECONDS
        for job in listed_jobs(tenant, jobs=self.jobs):
            if self.clock.monotonic() > until:
                raise Conflict("there are too many jobs to look through them all in time")
            if not job.state.settled and self._uses(job, name):
                yield job

    def _uses(self, job: Job, name: str) -> bool:
        picture = self.jobs.picture(job.ref)
        return any(task.definition == name for task in picture.visible_tasks)
