"""What happens to a job between the moment it is read and the moment it grows."""

from collections.abc import Callable

import pytest

from switchyard.domain.errors import NotNow
from switchyard.domain.jobs.chunks import Chunk
from switchyard.domain.states import TaskState
from tests.fakes.adding import AddingYard, an_addition

WIDE: dict[str, list[str]] = {f"new-{n}": [] for n in range(70)}


@pytest.fixture
def yard() -> AddingYard:
    yard = AddingYard()
    yard.start({"a": [], "z": []})
    return yard


class Meanwhile:
    """Lets something happen right before a chunk is written."""

    def __init__(self, yard: AddingYard, monkeypatch: pytest.MonkeyPatch) -> None:
        self._add = yard.memory.additions.add
        self.happens: Callable[[], object] = lambda: None
        monkeypatch.setattr(yard.memory.additions, "add", self)

    def __call__(self, chunk: Chunk) -> bool:
        self.happens()
        return self._add(chunk)

    def once(self, yard: AddingYard, task_id: str) -> None:
        def settle() -> None:
            self.happens = lambda: None
            yard.settle_only(task_id)

        self.happens = settle


@pytest.fixture
def meanwhile(yard: AddingYard, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    return Meanwhile(yard, monkeypatch)


def test_a_parent_that_settles_meanwhile_is_read_again(
    yard: AddingYard, meanwhile: Meanwhile
) -> None:
    meanwhile.once(yard, "a")
    assert yard.add({"new": ["a"]}).immediately_ready == ("new",)
    assert yard.state("new") is TaskState.READY


def test_of_two_who_add_the_same_the_second_is_told_to_look_again(
    yard: AddingYard, meanwhile: Meanwhile
) -> None:
    def the_other() -> None:
        meanwhile.happens = lambda: None
        yard.clock.advance(1)
        yard.add({"new": []})

    meanwhile.happens = the_other
    with pytest.raises(NotNow, match="has a task 'new' already"):
        yard.add({"new": []})
    assert yard.add({"new": []}).added_tasks == ("new",)


def test_of_two_who_add_others_both_succeed(yard: AddingYard, meanwhile: Meanwhile) -> None:
    def the_other() -> None:
        meanwhile.happens = lambda: None
        yard.add({"theirs": ["a"]})

    meanwhile.happens = the_other
    assert yard.add({"ours": ["a"]}).total_tasks_now == 4
    assert yard.told()["Job Tasks Added"] == 2


def test_a_job_that_never_stands_still_is_given_up(
    yard: AddingYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yard.memory.additions, "add", lambda _chunk: False)
    with pytest.raises(NotNow, match="changes too fast"):
        yard.add({"new": []})


def test_what_was_added_when_time_is_up_is_answered(yard: AddingYard, meanwhile: Meanwhile) -> None:
    meanwhile.happens = lambda: yard.clock.advance(15)
    answer = yard.adder.add(yard.job, an_addition(WIDE))
    assert answer.problem == "there was not time enough; add the others now"
    assert answer.try_again
    assert 0 < len(answer.added_tasks) < len(WIDE)


def test_who_adds_the_others_then_adds_them_all(yard: AddingYard, meanwhile: Meanwhile) -> None:
    meanwhile.happens = lambda: yard.clock.advance(15)
    added = yard.add(WIDE).added_tasks
    meanwhile.happens = lambda: None
    rest = {name: parents for name, parents in WIDE.items() if name not in added}
    assert yard.add(rest).total_tasks_now == 2 + len(WIDE)
