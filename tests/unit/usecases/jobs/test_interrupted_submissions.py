"""A submission dies or is overtaken between any two of its requests: one job comes out."""

import contextlib

import pytest

from switchyard.contracts.jobs import JobAccepted
from switchyard.domain.ids import START, JobRef
from switchyard.domain.states import JobState
from switchyard.usecases.jobs import expand_job, submit_job
from tests.builders import TENANT, a_submission
from tests.fakes.interruption import Death, death
from tests.fakes.small_cloud import Process, SmallCloud, everywhere

EDGES: dict[str, list[str]] = {"a": [], **{f"b{n}": ["a"] for n in range(9)}}
REQUEST = a_submission(EDGES)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit_job, "MAX_INLINE_TASKS", 3)
    monkeypatch.setattr(expand_job, "ITEMS_AT_ONCE", 7)


@pytest.fixture(params=["large", "small"])
def of_any_size(request: pytest.FixtureRequest) -> None:
    if request.param == "large":
        request.getfixturevalue("large")


def check(cloud: SmallCloud, accepted: JobAccepted) -> None:
    picture = Process(cloud).jobs.picture(JobRef(TENANT, accepted.job_id))
    assert picture.job.state is JobState.OPEN
    assert {task.ref.task_id for task in picture.visible_tasks} == EDGES.keys()
    assert [task.ref.task_id for task in picture.tasks if task.fence] == [START]
    assert max(task.fence for task in picture.tasks) == 1
    assert set(cloud.created.values()) == {1}
    kinds = [key.split()[1].partition("#")[0] for key in cloud.created]
    assert {kind: kinds.count(kind) for kind in ("KEY", "JOB", "DATA")} == {
        "KEY": 1,
        "JOB": 1,
        "DATA": len(EDGES),
    }
    assert len({event.event_id for event in cloud.bus.events}) <= 1


def repeated(answer: JobAccepted) -> JobAccepted:
    return answer.model_copy(update={"repeated": True})


@pytest.mark.usefixtures("of_any_size")
def test_who_dies_and_comes_again_with_the_same_key_has_one_job() -> None:
    for cloud, interruption in everywhere(death):
        first = None
        with contextlib.suppress(Death):
            first = Process(cloud, interruption).submit(REQUEST)
        cloud.clock.advance(60)
        again = Process(cloud).submit(REQUEST)
        Process(cloud).expand()
        check(cloud, again)
        assert first is None or again == repeated(first)
        assert Process(cloud).submit(REQUEST) == repeated(again)


@pytest.mark.usefixtures("of_any_size")
def test_two_at_once_under_the_same_key_have_one_job() -> None:
    answers: list[JobAccepted] = []

    def overtake(cloud: SmallCloud) -> None:
        answers.append(Process(cloud).submit(REQUEST))
        Process(cloud).expand()

    for cloud, interruption in everywhere(overtake):
        answers.clear()
        answers.append(Process(cloud, interruption).submit(REQUEST))
        Process(cloud).expand()
        check(cloud, answers[0])
        assert len({repeated(answer) for answer in answers}) == 1
        assert not all(answer.repeated for answer in answers)  # one of them did start it


@pytest.mark.usefixtures("large")
def test_an_expansion_that_dies_is_gone_on_with() -> None:
    for cloud, interruption in everywhere(death):
        accepted = Process(cloud).submit(REQUEST)
        try:
            Process(cloud, interruption).expand()
        except Death:
            Process(cloud).expand()
        check(cloud, accepted)


@pytest.mark.usefixtures("large")
def test_two_who_expand_one_job_do_what_one_does() -> None:
    for cloud, interruption in everywhere(lambda cloud: Process(cloud).expand()):
        accepted = Process(cloud).submit(REQUEST)
        Process(cloud, interruption).expand()
        check(cloud, accepted)
        assert cloud.bus.events
