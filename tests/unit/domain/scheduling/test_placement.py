"""Where a task waits: whose word counts for queue, class, attempts and limits."""

from dataclasses import replace

import pytest

from switchyard.domain.fan_out.items import Item, Items, NotExpandable
from switchyard.domain.fan_out.plan import plan_expansion
from switchyard.domain.ids import JobRef, bare_task
from switchyard.domain.jobs.adoption import adopted_task
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import Pinned, plan_job
from switchyard.domain.scheduling.classes import PriorityClass
from switchyard.domain.scheduling.limit_names import key_digest, without_value
from switchyard.domain.scheduling.placement import Placing, Wish, renewal_of
from switchyard.domain.scheduling.work_queues import Concurrency, DefinitionTerms, WorkQueue
from switchyard.domain.states import JobState, TaskKind
from switchyard.domain.tasks.task import Payload, Task
from tests.builders import JOB_ID, NOW_MS, TENANT

HEAVY = WorkQueue(
    tenant=TENANT,
    name="build/heavy",
    lease_ms=60_000,
    max_attempts=2,
    priority=PriorityClass.LOW,
    concurrency=Concurrency(limit=5, key="${input.repo}"),
)
TERMS = DefinitionTerms(
    queue="build/heavy", priority=PriorityClass.HIGH, concurrency=Concurrency(limit=3)
)


def planned(
    spec: TaskSpec | None = None,
    *,
    pin: Pinned | None = None,
    wish: Wish | None = None,
    queues: tuple[WorkQueue, ...] = (HEAVY,),
) -> Task:
    spec = spec or TaskSpec(task_id="a", name="scrape", input={"repo": "x"})
    plan = plan_job(
        JobRef(TENANT, JOB_ID),
        name="job",
        tags={},
        specs=[spec],
        pinned={"scrape": pin or Pinned(1)},
        now_ms=NOW_MS,
        placing=Placing(queues={q.name: q for q in queues}, wish=wish or Wish()),
    )
    (task,) = plan.visible_tasks
    return task


def test_a_task_that_names_nothing_has_nothing_more_than_before() -> None:
    task = planned()
    assert (task.queue, task.priority, task.lease_ms, task.limits) == (None, None, None, ())
    assert task.max_attempts == 3


def test_the_word_of_the_definition_is_the_last_one_for_the_queue() -> None:
    pin = Pinned(1, 3, TERMS)
    assert planned(pin=pin).queue == "build/heavy"
    assert planned(pin=pin, wish=Wish(queue="other")).queue == "other"
    spec = TaskSpec(task_id="a", name="scrape", input={"repo": "x"}, queue="default")
    assert planned(spec, pin=pin, wish=Wish(queue="other")).queue is None


def test_the_word_of_the_queue_is_the_last_one_for_the_class() -> None:
    spec = TaskSpec(task_id="a", name="scrape", input={"repo": "x"}, queue="build/heavy")
    assert planned(spec).priority == "low"
    assert planned(spec, pin=Pinned(1, 3, TERMS)).priority == "high"
    assert planned(spec, wish=Wish(priority="normal")).priority is None
    assert planned(replace(spec, priority="high"), wish=Wish(priority="normal")).priority == "high"


@pytest.mark.parametrize(("of_definition", "expected"), [(3, 2), (1, 1)])
def test_attempts_are_the_queues_unless_the_definition_says_otherwise(
    of_definition: int, expected: int
) -> None:
    task = planned(pin=Pinned(1, of_definition, DefinitionTerms(queue="build/heavy")))
    assert (task.max_attempts, task.lease_ms) == (expected, 60_000)


def test_limits_of_queue_and_definition_both_count() -> None:
    digest = key_digest("${input.repo}", {"repo": "x"})
    task = planned(pin=Pinned(1, 3, TERMS))
    assert task.limits == (f"q:build/heavy:5:{digest}", "d:scrape:3")


def test_an_adopted_task_takes_what_its_definition_says() -> None:
    task = adopted_task(
        bare_task(TENANT, "r-1"),
        definition="scrape",
        pinned=Pinned(1, 3, TERMS),
        now_ms=NOW_MS,
        placing=Placing(queues={HEAVY.name: HEAVY}),
        given=None,
    )
    assert (task.queue, task.priority, task.max_attempts) == ("build/heavy", "high", 2)
    assert task.limits == (without_value("q:build/heavy:5:${input.repo}"), "d:scrape:3")


def test_a_redrive_by_the_latest_version_takes_its_limits_and_keeps_those_of_the_queue() -> None:
    task = planned(pin=Pinned(1, 3, TERMS))
    latest = DefinitionTerms(concurrency=Concurrency(limit=9))
    renewal = renewal_of(task, latest, max_attempts=3, queue=HEAVY, given={"repo": "x"})
    assert renewal.limits == (task.limits[0], "d:scrape:9")
    assert renewal.max_attempts == 2
    same = renewal_of(task, TERMS, max_attempts=1, queue=HEAVY, given=None)
    assert (same.limits, same.max_attempts) == (None, 1)


def expanded(*inputs: object) -> list[Task]:
    """Return the items of a fan-out in the queue `build/heavy`."""
    fan_out = replace(
        planned(),
        kind=TaskKind.FAN_OUT,
        queue="build/heavy",
        priority="low",
        lease_ms=60_000,
        limits=("q:build/heavy:5:${input.repo}",),
    )
    items = Items(
        each=tuple(Item((str(number),), given) for number, given in enumerate(inputs)), shape=[]
    )
    job = Job(
        ref=fan_out.ref.job, name="job", state=JobState.OPEN, total_tasks=1, created_at_ms=NOW_MS
    )
    expansion = plan_expansion(job, fan_out, items, template=Payload(), tolerated=False)
    return [task for task in expansion.plan.tasks if not task.ref.hidden]


def test_each_item_of_a_fan_out_has_the_key_of_its_own_input() -> None:
    made = expanded({"repo": "x"}, {"repo": "y"})
    digests = [key_digest("${input.repo}", {"repo": repo}) for repo in ("x", "y")]
    assert [task.limits for task in made] == [(f"q:build/heavy:5:{one}",) for one in digests]
    assert {(t.queue, t.priority, t.lease_ms) for t in made} == {("build/heavy", "low", 60_000)}


def test_an_item_without_the_value_of_its_key_ends_the_fan_out() -> None:
    with pytest.raises(NotExpandable, match="has no member 'repo'"):
        expanded({"repo": "x"}, {"other": 1})
