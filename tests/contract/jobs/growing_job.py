"""A job that grows, on any backend."""

from switchyard.domain.jobs.additions import Group, grouped
from switchyard.domain.jobs.chunk_plan import plan_chunk
from switchyard.domain.jobs.chunks import Chunk
from switchyard.domain.jobs.job import JobPicture
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Claimed
from tests.builders import JOB, NOW_MS, a_plan, specs
from tests.contract.conftest import Backend

COMPLETED = Outcome(state=TaskState.COMPLETED)
FAILED = Outcome(state=TaskState.FAILED, error="boom", error_category="validation")
LATER = NOW_MS + 5_000


def open_job(backend: Backend) -> None:
    """`done` completed, `lost` failed, `next` may run, `last` waits for it."""
    plan = a_plan({"done": [], "lost": [], "next": [], "last": ["next"]})
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    settle(backend, "done", COMPLETED)
    settle(backend, "lost", FAILED)


def settle(backend: Backend, name: str, outcome: Outcome) -> Task:
    claimed = claim(backend, name)
    return backend.leases.settle(claimed.lease, outcome, output=None, now_ms=NOW_MS)


def claim(backend: Backend, name: str) -> Claimed:
    ref = JOB.task(name)
    task = backend.graph.remove_edges(ref, {"__start__@1": True})
    backend.graph.decide(task, Readiness(TaskState.READY, "it may"), now_ms=NOW_MS)
    claimed = backend.leases.claim(ref, owner="w", now_ms=NOW_MS, lease_ms=1000)
    assert isinstance(claimed, Claimed)
    return claimed


def a_group(edges: dict[str, list[str]], **inputs: object) -> Group:
    (group,) = grouped(specs(edges, **inputs), number=1)
    return group


def a_chunk(backend: Backend, edges: dict[str, list[str]], **inputs: object) -> Chunk:
    group = a_group(edges, **inputs)
    seen = backend.additions.chunk_context(JOB, group.parents)
    chunk = plan_chunk(group, seen, pinned={"scrape": Pinned(1)}, at_ms=LATER)
    assert chunk is not None
    return chunk


def picture(backend: Backend) -> JobPicture:
    return backend.jobs.picture(JOB)


def found(backend: Backend, name: str) -> Task:
    task = backend.graph.find(JOB.task(name))
    assert task is not None
    return task
