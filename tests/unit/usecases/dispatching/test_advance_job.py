"""Going on with a job: which step its state asks for, and what is left."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import UnknownJob
from switchyard.domain.jobs.advancing import NextStep, next_step
from switchyard.domain.states import JobState
from tests.builders import JOB, a_plan
from tests.fakes.steps import Steps
from tests.fakes.yard import Yard

DOCUMENT = {"document_key": "task/documents/a.json"}
REDRIVE = {"redrive_key": "task/redrives/a.json"}
ASKED: list[tuple[JobState, dict[str, str], NextStep | None]] = [
    (JobState.WRITING, {}, None),
    (JobState.WRITING, DOCUMENT, NextStep.EXPAND),
    (JobState.OPEN, {}, None),
    (JobState.OPEN, DOCUMENT, None),
    (JobState.OPEN, REDRIVE, NextStep.REDRIVE),
    (JobState.CANCELLING, {}, NextStep.CANCEL),
    (JobState.CANCELLING, REDRIVE, NextStep.CANCEL),
    (JobState.REDRIVING, REDRIVE, NextStep.REDRIVE),
    (JobState.UNKNOWN, {}, None),
    (JobState.UNKNOWN, REDRIVE, None),
    *((state, {}, None) for state in JobState if state.settled),
    *((state, REDRIVE, NextStep.REDRIVE) for state in JobState if state.settled),
]


def test_the_table_names_every_state() -> None:
    assert {row[0] for row in ASKED} == set(JobState)


@pytest.mark.parametrize(("state", "facts", "step"), ASKED)
def test_a_job_s_state_asks_for_one_step(
    state: JobState, facts: dict[str, Any], step: NextStep | None
) -> None:
    job = replace(a_plan().job, state=state, **facts)
    assert next_step(job) is step
    yard = Yard()
    yard.memory.state.jobs[JOB] = job
    yard.steps.update({each: Steps() for each in NextStep})
    yard.advancer.advance(JOB, until=yard.until)
    taken = {each for each, steps in yard.steps.items() if isinstance(steps, Steps) and steps.taken}
    assert taken == ({step} if step else set())
    assert not yard.memory.dispatches.refs


def test_what_is_left_comes_with_another_wake_up() -> None:
    yard = Yard()
    yard.memory.state.jobs[JOB] = replace(a_plan().job, state=JobState.CANCELLING)
    yard.steps[NextStep.CANCEL] = steps = Steps(finished_after=4)
    yard.advancer.advance(JOB, until=yard.until)
    assert list(yard.memory.dispatches.refs) == [JOB]
    yard.work_off()
    assert len(steps.taken) == 4


def test_an_unknown_job_is_an_error() -> None:
    yard = Yard()
    with pytest.raises(UnknownJob):
        yard.advancer.advance(JOB, until=yard.until)
