"""Use cases that accept jobs for a harness in memory."""

from switchyard.ports import Clock, Ids
from switchyard.testing import MemoryHarness
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.submit_job import Submitter
from tests.builders import an_emitter


def a_limit(harness: MemoryHarness, *, clock: Clock, most: int = 1_000_000) -> OpenTaskLimit:
    return OpenTaskLimit(open_tasks=harness.open_tasks, jobs=harness.jobs, clock=clock, most=most)


def a_submitter(harness: MemoryHarness, *, clock: Clock, ids: Ids) -> Submitter:
    return Submitter(
        intake=harness.intake,
        jobs=harness.jobs,
        definitions=harness.definitions,
        submission_keys=harness.submission_keys,
        tenants=harness.tenants,
        open_tasks=a_limit(harness, clock=clock),
        blobs=harness.blobs,
        dispatches=harness.dispatches,
        emitter=an_emitter(harness.bus),
        clock=clock,
        ids=ids,
    )


def an_expander(harness: MemoryHarness, *, clock: Clock) -> Expander:
    return Expander(
        intake=harness.intake, blobs=harness.blobs, emitter=an_emitter(harness.bus), clock=clock
    )
