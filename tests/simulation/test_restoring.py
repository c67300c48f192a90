"""The state table goes back to an earlier moment, while queues, bucket, log and workers do not."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from switchyard.domain.states import JobState
from tests.compatibility import use_cases
from tests.compatibility.stage import Moment, Stage
from tests.simulation.checker import violations
from tests.simulation.checks.history import History
from tests.simulation.run import silence


@pytest.fixture
def stage() -> Iterator[Stage]:
    with silence(), use_cases.small_limits(), contextlib.closing(Stage()) as stage:
        yield stage


def restore(stage: Stage, moment: Moment) -> None:
    """Restore as point-in-time recovery does: what was written since is gone."""
    table = stage.cloud.dynamodb._tables[stage.cloud.state]
    table._items.clear()
    for index in table.indexes.values():
        index.entries.clear()
    stage.cloud.dynamodb.on_change.clear()
    stage.history = History(stage.world, stage.cloud)
    stage.children.clear()  # those of the future that is gone stop at their next renewal
    stage.world.acting = "nobody"
    for item in moment["tables"]["state"]:
        stage.cloud.dynamodb.put_item(TableName=stage.cloud.state, Item=item)


def broken_promises(stage: Stage, lost: set[str]) -> list[str]:
    """Except that the log remembers what the table forgot, and messages name jobs that are gone."""
    found = [str(v) for v in violations(stage) if v.invariant not in {"I7", "I9"}]
    return [
        text
        for text in found
        if "by nobody: nothing" not in text
        and not (text.startswith("I5: parked") and any(job in text for job in lost))
    ]


@pytest.mark.parametrize(
    "moment", [1, *(pytest.param(moment, marks=pytest.mark.long) for moment in (3, 5, 7))]
)
def test_after_a_restore_every_job_of_that_moment_ends(stage: Stage, moment: int) -> None:
    """Nothing is purged and no worker is stopped: what they still do to the past is refused."""
    saved: Any = None
    for number, (seconds, _, step) in enumerate(use_cases.STEPS):
        step(stage)
        stage.pass_time(seconds)
        if number == moment:
            saved = stage.save()
            known = set(stage.ends())
    stage.pass_time(90)
    lost = set(stage.ends()) - known
    restore(stage, saved)
    stage.settle()
    assert not stage.bugs
    assert broken_promises(stage, lost) == []
    assert known <= set(stage.ends())
    assert all(
        job.state.settled or job.state is JobState.WRITING for job in stage.history.jobs.values()
    )


def test_a_task_that_completed_after_the_moment_runs_again_and_completes_once_more(
    stage: Stage,
) -> None:
    use_cases.submit(stage, {"name": "one", "tasks": [{"taskId": "ok-a", "name": "scrape"}]})
    stage.pass_time(3.0)
    saved = stage.save()
    stage.settle()
    runs = len(stage.children)
    restore(stage, saved)
    stage.settle()
    assert runs == 1
    assert len(stage.children) == 1  # of this time
    assert set(stage.ends().values()) == {"COMPLETED"}


def test_a_message_for_a_job_that_is_gone_is_parked(stage: Stage) -> None:
    """It was accepted after the moment: its producer has to submit it again."""
    saved = stage.save()
    use_cases.submit(stage, {"name": "gone", "tasks": [{"taskId": "slow-a", "name": "scrape"}]})
    stage.pass_time(30)
    job = use_cases.named(stage, "gone").job_id
    restore(stage, saved)
    stage.pass_time(900)
    objects = stage.cloud.s3.objects
    parked = [objects[key].decode() for key in objects if key.startswith("parked/")]
    assert stage.ends() == {}
    assert [job in text for text in parked] == [True]
    assert not stage.bugs
