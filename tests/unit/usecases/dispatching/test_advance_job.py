"""Going on with a job: which step its state asks for, and what is left."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import UnknownJob
from switchyard.domain.jobs.job import NextStep, next_step
from switchyard.domain.states import JobState
from tests.builders import JOB, a_plan
from tests.fakes.harnesses.job_harness import Harness
from tests.fakes.steps import Steps

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
    harness = Harness()
    harness.memory.state.jobs[JOB] = job
    harness.steps.update({each: Steps() for each in NextStep})
    harness.advancer.advance(JOB, until=harness.until)
    taken = {
        each for each, steps in harness.steps.items() if isinstance(steps, Steps) and steps.taken
    }
    assert taken == ({step} if step else set())
    assert not harness.memory.dispatches.refs


def test_what_is_left_comes_with_another_wake_up() -> None:
    harness = Harness()
    harness.memory.state.jobs[JOB] = replace(a_plan().job, state=JobState.CANCELLING)
    harness.steps[NextStep.CANCEL] = steps = Steps(finished_after=4)
    harness.advancer.advance(JOB, until=harness.until)
    assert list(harness.memory.dispatches.refs) == [JOB]
    harness.work_off()
    assert len(steps.taken) == 4


def test_an_unknown_job_is_an_error() -> None:
    harness = Harness()
    with pytest.raises(UnknownJob):
        harness.advancer.advance(JOB, until=harness.until)
