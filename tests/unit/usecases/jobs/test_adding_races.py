"""What happens to a job between the moment it is read and the moment it grows."""

from collections.abc import Callable

import pytest

from switchyard.domain.errors import NotNow
from switchyard.domain.jobs.chunks import Chunk
from switchyard.domain.states import TaskState
from tests.fakes.harnesses.growing_harness import AddingHarness, an_addition

WIDE: dict[str, list[str]] = {f"new-{n}": [] for n in range(70)}


@pytest.fixture
def harness() -> AddingHarness:
    harness = AddingHarness()
    harness.start({"a": [], "z": []})
    return harness


class Meanwhile:
    """Lets something happen right before a chunk is written."""

    def __init__(self, harness: AddingHarness, monkeypatch: pytest.MonkeyPatch) -> None:
        self._add = harness.memory.additions.add
        self.happens: Callable[[], object] = lambda: None
        monkeypatch.setattr(harness.memory.additions, "add", self)

    def __call__(self, chunk: Chunk) -> bool:
        self.happens()
        return self._add(chunk)

    def once(self, harness: AddingHarness, task_id: str) -> None:
        def settle() -> None:
            self.happens = lambda: None
            harness.settle_only(task_id)

        self.happens = settle


@pytest.fixture
def meanwhile(harness: AddingHarness, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    return Meanwhile(harness, monkeypatch)


def test_a_parent_that_settles_meanwhile_is_read_again(
    harness: AddingHarness, meanwhile: Meanwhile
) -> None:
    meanwhile.once(harness, "a")
    assert harness.add({"new": ["a"]}).immediately_ready == ("new",)
    assert harness.state("new") is TaskState.READY


def test_of_two_equal_additions_the_second_is_a_conflict(
    harness: AddingHarness, meanwhile: Meanwhile
) -> None:
    def the_other() -> None:
        meanwhile.happens = lambda: None
        harness.clock.advance(1)
        harness.add({"new": []})

    meanwhile.happens = the_other
    with pytest.raises(NotNow, match="has a task 'new' already"):
        harness.add({"new": []})
    assert harness.add({"new": []}).added_tasks == ("new",)


def test_of_two_who_add_others_both_succeed(harness: AddingHarness, meanwhile: Meanwhile) -> None:
    def the_other() -> None:
        meanwhile.happens = lambda: None
        harness.add({"theirs": ["a"]})

    meanwhile.happens = the_other
    assert harness.add({"ours": ["a"]}).total_tasks_now == 4
    assert harness.emitted()["Job Tasks Added"] == 2


def test_a_job_that_never_stands_still_is_given_up(
    harness: AddingHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.memory.additions, "add", lambda _chunk: False)
    with pytest.raises(NotNow, match="changes too fast"):
        harness.add({"new": []})


def test_what_was_added_when_time_is_up_is_answered(
    harness: AddingHarness, meanwhile: Meanwhile
) -> None:
    meanwhile.happens = lambda: harness.clock.advance(15)
    answer = harness.adder.add(harness.job, an_addition(WIDE))
    assert answer.problem == "there was not time enough; add the others now"
    assert answer.try_again
    assert 0 < len(answer.added_tasks) < len(WIDE)


def test_who_adds_the_others_then_adds_them_all(
    harness: AddingHarness, meanwhile: Meanwhile
) -> None:
    meanwhile.happens = lambda: harness.clock.advance(15)
    added = harness.add(WIDE).added_tasks
    meanwhile.happens = lambda: None
    rest = {name: parents for name, parents in WIDE.items() if name not in added}
    assert harness.add(rest).total_tasks_now == 2 + len(WIDE)
