"""Whoever accepts jobs for a yard in memory."""

from switchyard.adapters.memory import MemoryYard
from switchyard.ports import Clock, Ids
from switchyard.usecases.access.open_tasks import OpenTaskLimit
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.submit_job import Submitter
from tests.builders import an_emitter


def a_limit(yard: MemoryYard, *, clock: Clock, most: int = 1_000_000) -> OpenTaskLimit:
    return OpenTaskLimit(open_tasks=yard.open_tasks, jobs=yard.jobs, clock=clock, most=most)


def a_submitter(yard: MemoryYard, *, clock: Clock, ids: Ids) -> Submitter:
    return Submitter(
        intake=yard.intake,
        jobs=yard.jobs,
        definitions=yard.definitions,
        submission_keys=yard.submission_keys,
        tenants=yard.tenants,
        open_tasks=a_limit(yard, clock=clock),
        blobs=yard.blobs,
        dispatches=yard.dispatches,
        emitter=an_emitter(yard.bus),
        clock=clock,
        ids=ids,
    )


def an_expander(yard: MemoryYard, *, clock: Clock) -> Expander:
    return Expander(intake=yard.intake, blobs=yard.blobs, emitter=an_emitter(yard.bus), clock=clock)
