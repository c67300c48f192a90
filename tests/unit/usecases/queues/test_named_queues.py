"""Queues that tasks name are read and checked when they are submitted."""

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.errors import InvalidJob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.nested_jobs.job_templates import JobTemplate
from switchyard.domain.scheduling.work_queues import (
    Concurrency,
    DefinitionTerms,
    UnknownWorkQueue,
    WorkQueue,
)
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.scheduling.work_queues import MemoryWorkQueueStore
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.queues.named_queues import NamedQueues
from tests.builders import TENANT, a_definition
from tests.fakes.harnesses.submitting import a_submitter

QUEUE = WorkQueue(
    tenant=TENANT, name="build/heavy", lease_ms=60_000, concurrency=Concurrency(limit=2, key="all")
)


class Harness:
    def __init__(self) -> None:
        self.memory = MemoryHarness(ManualClock())
        self.store = MemoryWorkQueueStore()
        self.store.create(QUEUE)
        self.memory.definitions.put(TENANT, "scrape", a_definition())
        plain = a_submitter(self.memory, clock=ManualClock(), ids=SystemIds())
        queues = NamedQueues(store=self.store, groups=("default", "build"))
        self.submitter = Submitter(**{**vars(plain), "queues": queues})

    def submit(self, task: dict[str, object] | None = None, **job: object) -> JobRef:
        tasks = [{"taskId": "a", "name": "scrape"} | (task or {})]
        request = SubmitJob.model_validate({"tasks": tasks} | job)
        return JobRef(TENANT, self.submitter.submit(TENANT, request).job_id)


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_a_task_takes_what_its_queue_says(harness: Harness) -> None:
    ref = harness.submit({"metadata": {"ticket": "42"}}, queue="build/heavy", priority="high")
    task = harness.memory.state.tasks[ref.task("a")]
    assert (task.queue, task.priority, task.lease_ms) == ("build/heavy", "high", 60_000)
    assert [limit.rpartition(":")[0] for limit in task.limits] == ["q:build/heavy:2"]
    assert harness.memory.state.payloads[ref.task("a")].metadata == {"ticket": "42"}
    assert harness.memory.state.jobs[ref].queue == "build/heavy"


@pytest.mark.parametrize(
    ("task", "job", "said"),
    [
        ({"queue": "build/heavi"}, {}, "tasks.0.queue: there is no queue 'build/heavi'; did you"),
        ({}, {"queue": "zzz"}, "queue: there is no queue 'zzz'; create it with `switchyard"),
    ],
)
def test_an_unknown_queue_is_refused_with_its_field(
    harness: Harness, task: dict[str, object], job: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidJob) as refused:
        harness.submit(task, **job)
    assert said in str(refused.value)


def test_a_queue_in_a_group_that_the_stage_lost_is_refused(harness: Harness) -> None:
    harness.store.create(WorkQueue(tenant=TENANT, name="gone/a"))
    with pytest.raises(InvalidJob, match="the group 'gone' is none of this stage"):
        harness.submit({"queue": "gone/a"})


def test_a_task_without_the_value_of_a_key_is_refused(harness: Harness) -> None:
    keyed = a_definition(concurrency={"limit": 1, "key": "${input.repo}"})
    harness.memory.definitions.put(TENANT, "scrape", keyed)
    with pytest.raises(InvalidJob, match=r"tasks.0.input: the key \$\{input.repo\}"):
        harness.submit({"input": {"other": 1}})
    ref = harness.submit({"input": {"repo": "x"}})
    (limit,) = harness.memory.state.tasks[ref.task("a")].limits
    assert limit.startswith("d:scrape:1:")


def test_queues_of_another_tenant_are_unknown(harness: Harness) -> None:
    harness.store.create(WorkQueue(tenant="other", name="build/theirs"))
    with pytest.raises(InvalidJob, match="there is no queue 'build/theirs'"):
        harness.submit({"queue": "build/theirs"})


def test_a_template_that_names_an_unknown_queue_is_not_expanded() -> None:
    store = MemoryWorkQueueStore()
    store.create(QUEUE)
    queues = NamedQueues(store=store)
    pins = {"scrape": Pinned(1, 3, DefinitionTerms(queue="build/heavy"))}
    template = JobTemplate(tasks=(), pinned=pins)
    assert queues.of_template(TENANT, template, None).queues == {"build/heavy": QUEUE}
    with pytest.raises(UnknownWorkQueue):
        queues.of_template(TENANT, template, "build/gone")
