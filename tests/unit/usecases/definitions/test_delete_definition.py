"""A definition goes only when no unsettled job uses it, and its versions never go."""

import pytest

from switchyard.contracts.triggers import Trigger
from switchyard.domain.errors import (
    Conflict,
    DefinitionInUse,
    InvalidJob,
    UnknownDefinition,
)
from switchyard.domain.ids import JobRef
from switchyard.domain.states import JobState
from switchyard.testing.triggers import MemoryTriggerStore
from switchyard.usecases.definitions.delete_definition import SECONDS, DefinitionRemover
from tests.builders import NOW_MS, TENANT, a_definition, a_plan, a_submission
from tests.fakes.harnesses.job_harness import Harness


def remover(harness: Harness, triggers: MemoryTriggerStore | None = None) -> DefinitionRemover:
    memory = harness.memory
    return DefinitionRemover(
        definitions=memory.definitions,
        jobs=memory.jobs,
        triggers=triggers or MemoryTriggerStore(),
        clock=harness.clock,
    )


def open_jobs(harness: Harness, number: int) -> list[str]:
    refs = [JobRef(TENANT, f"job-00000000-0000-4000-8000-{n:012d}") for n in range(number)]
    for ref in refs:
        plan = a_plan({"only": []}, job=ref)
        harness.memory.intake.write(plan)
        harness.memory.intake.open(plan, now_ms=NOW_MS)
    return [ref.job_id for ref in refs]


def test_what_nobody_uses_is_deleted_and_cannot_be_submitted() -> None:
    harness = Harness()
    deleted = remover(harness).delete(TENANT, "scrape")
    assert (deleted.name, deleted.last_version) == ("scrape", 1)
    with pytest.raises(InvalidJob, match="not a registered"):
        harness.submit(a_submission())
    assert harness.memory.definitions.put(TENANT, "scrape", a_definition()).version == 2


def test_the_jobs_that_use_it_are_named_and_no_more_than_five() -> None:
    harness = Harness()
    newest_first = open_jobs(harness, 7)[::-1]
    with pytest.raises(DefinitionInUse) as refused:
        remover(harness).delete(TENANT, "scrape")
    assert str(refused.value) == (
        f"the task definition 'scrape' is in use by {', '.join(newest_first[:5])}"
    )
    assert "scrape" in harness.memory.definitions.latest(TENANT, ["scrape"])


def test_a_trigger_that_would_start_it_is_named() -> None:
    harness, triggers = Harness(), MemoryTriggerStore()
    job = {"name": "nightly", "tasks": [{"taskId": "a", "name": "scrape"}]}
    trigger = Trigger.model_validate({"name": "night", "schedule": "rate(1 day)", "job": job})
    triggers.put(TENANT, trigger, now_ms=NOW_MS)
    with pytest.raises(DefinitionInUse, match="in use by the trigger night"):
        remover(harness, triggers).delete(TENANT, "scrape")
    triggers.remove(TENANT, "night", now_ms=NOW_MS)
    assert remover(harness, triggers).delete(TENANT, "scrape").last_version == 1


def test_settled_jobs_and_jobs_with_other_definitions_do_not_use_it() -> None:
    harness = Harness()
    harness.memory.definitions.put(TENANT, "other", a_definition())
    open_jobs(harness, 1)
    assert remover(harness).delete(TENANT, "other").last_version == 1
    (job,) = harness.memory.jobs.page(TENANT, limit=1, cursor=None).jobs
    harness.memory.jobs.settle(job, JobState.COMPLETED, now_ms=NOW_MS)
    assert remover(harness).delete(TENANT, "scrape").last_version == 1


@pytest.mark.parametrize("name", ["nobody", "../scrape", ""])
def test_what_is_not_registered_is_unknown(name: str) -> None:
    with pytest.raises(UnknownDefinition):
        remover(Harness()).delete(TENANT, name)


def test_what_cannot_be_looked_through_in_time_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness()
    harness.memory.definitions.put(TENANT, "other", a_definition())
    open_jobs(harness, 3)
    look = harness.memory.jobs.picture

    def slowly(ref: JobRef) -> object:
        harness.clock.advance(SECONDS)
        return look(ref)

    monkeypatch.setattr(harness.memory.jobs, "picture", slowly)
    with pytest.raises(Conflict, match="too many jobs"):
        remover(harness).delete(TENANT, "other")
    assert "other" in harness.memory.definitions.latest(TENANT, ["other"])
