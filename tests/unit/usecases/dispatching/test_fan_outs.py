"""A fan-out makes its tasks once, whatever crashes, and gathers what they made."""

import json
from typing import Any

import pytest

from switchyard.domain.fan_out.plan import start_of
from switchyard.domain.states import JobState, TaskState
from tests.fakes.harnesses.fan_out_harness import FanOutHarness
from tests.fakes.harnesses.job_harness import FAILED, Crash, crashing

READY, WAITING = TaskState.READY, TaskState.WAITING


@pytest.fixture
def harness() -> FanOutHarness:
    return FanOutHarness()


def test_each_item_is_a_task_and_their_outputs_are_one_list(harness: FanOutHarness) -> None:
    harness.fan_out()
    assert harness.state("review") is WAITING
    assert harness.queued() >= {"review[0]", "review[1]", "review[2]"}
    assert harness.input("review[1]") == {"file": "b", "number": 1}
    for number in (2, 0, 1):
        assert harness.state("sum") is WAITING
        harness.complete(f"review[{number}]", {"of": number})
    assert harness.state("review") is TaskState.COMPLETED
    assert harness.output() == [{"of": 0}, {"of": 1}, {"of": 2}]
    harness.complete("sum", None)
    assert harness.job_state() is JobState.COMPLETED
    assert harness.memory.state.jobs[harness.job].total_tasks == 6
    emitted = harness.emitted()
    assert (emitted["Task Expanded"], emitted["Task Completed"]) == (1, 1)


def test_an_empty_list_is_completed(harness: FanOutHarness) -> None:
    harness.fan_out(())
    assert harness.state("review") is TaskState.COMPLETED
    assert harness.output() == []
    assert harness.queued() >= {"sum"}


def test_items_have_keys_of_their_own(harness: FanOutHarness) -> None:
    harness.fan_out(({"id": "x"}, {"id": 7}), key="${item.id}", input="${item}")
    assert harness.items() == ["review[7]", "review[x]"]


def test_two_levels_make_a_list_of_lists(harness: FanOutHarness) -> None:
    docs: tuple[Any, ...] = ({"pages": ["p", "q"]}, {"pages": []}, {"pages": ["r"]})
    harness.fan_out(
        docs,
        forEach=["${tasks.list.output.items}", "${item.pages}"],
        input="${outerIndex}: ${item} of ${outer.pages}",
    )
    assert harness.items() == ["review[0][0]", "review[0][1]", "review[2][0]"]
    assert harness.input("review[0][1]") == '0: q of ["p","q"]'
    for name in harness.items():
        harness.complete(name, name[7:])
    assert harness.output() == [["0][0]", "0][1]"], [], ["2][0]"]]


def test_what_an_item_brings_in_refers_to_nothing(harness: FanOutHarness) -> None:
    harness.fan_out(("${tasks.list.output}",), input={"text": "see ${item}", "all": "${item}"})
    assert harness.input("review[0]") == {
        "text": "see $${tasks.list.output}",
        "all": "$${tasks.list.output}",
    }


@pytest.mark.parametrize(
    ("items", "more", "said"),
    [
        ({"a": 1}, {}, "forEach: ${tasks.list.output.items} is an object, and must be a list"),
        (tuple(range(10_001)), {}, "forEach: ${tasks.list.output.items} has 10,001 items;"),
        (("a", "a"), {"key": "${item}"}, "key: ${item} is 'a' for two items"),
        (("a/b",), {"key": "${item}"}, "key: ${item} is 'a/b' for item 0; a key is 1 to 64"),
        (("x" * 1000,), {"key": "${item}"}, "key: ${item} is 'xxxxxxxx"),
        (({},), {"input": "${item.name}"}, "${item.name} has no value: item has no member 'name'"),
        (("x$",), {"input": "${item}${tasks.list.output}"}, "a text that ends with $"),
        (
            ({"pages": 3},),
            {"forEach": ["${tasks.list.output.items}", "${item.pages}"]},
            "forEach: ${item.pages} is a number, and must be a list",
        ),
    ],
)
def test_a_list_that_cannot_be_used_fails_the_task_in_one_sentence(
    harness: FanOutHarness, items: Any, more: Any, said: str
) -> None:
    harness.fan_out(items, **more)
    assert harness.state("review") is TaskState.FAILED
    assert harness.error().startswith(said)
    assert harness.items() == []
    assert harness.state("sum") is TaskState.SKIPPED
    assert harness.job_state() is JobState.FAILED
    assert harness.emitted()["Job Failure Detected"] == 1


def test_a_failed_item_fails_the_fan_out_and_is_detected_at_once(harness: FanOutHarness) -> None:
    harness.fan_out()
    harness.complete("review[1]", None, FAILED)
    assert harness.emitted()["Job Failure Detected"] == 1
    assert harness.state("review") is WAITING
    for number in (0, 2):
        harness.complete(f"review[{number}]", 1)
    assert harness.state("review") is TaskState.FAILED
    assert harness.error() == "1 of 3 items, did not complete: review[1]"
    assert harness.job_state() is JobState.FAILED
    assert harness.emitted()["Job Failure Detected"] == 1


@pytest.mark.parametrize("tolerate", [1, "34 %", "34%"])
def test_a_tolerated_failure_fails_nothing(harness: FanOutHarness, tolerate: Any) -> None:
    harness.fan_out(tolerate=tolerate)
    harness.complete("review[1]", None, FAILED)
    for number in (0, 2):
        harness.complete(f"review[{number}]", number)
    assert harness.output() == [0, None, 2]
    harness.complete("sum", None)
    assert harness.job_state() is JobState.COMPLETED
    assert harness.emitted()["Job Failure Detected"] == 0


def test_more_failures_than_are_tolerated_are_detected_with_the_fan_out(
    harness: FanOutHarness,
) -> None:
    harness.fan_out(tolerate=1)
    for number in (0, 1):
        harness.complete(f"review[{number}]", None, FAILED)
    assert harness.emitted()["Job Failure Detected"] == 0
    harness.complete("review[2]", 2)
    assert harness.state("review") is TaskState.FAILED
    assert harness.error().startswith("2 of 3 items, of which 1 may fail, did not complete:")
    assert harness.memory.state.jobs[harness.job].failed_task_id == "review"


def test_a_large_list_is_written_in_parts_and_its_items_wait_for_all_of_it(
    harness: FanOutHarness,
) -> None:
    harness.fan_out(tuple(range(250)))
    assert len(harness.items()) == 250
    tokens = {len(t.waiting_on) for t in harness.memory.state.tasks.values()}
    assert max(tokens) <= 100
    for name in harness.items():
        harness.finish(name, name)
    harness.work_off()
    assert harness.state("review") is TaskState.COMPLETED
    assert len(harness.output()) == 250


def test_nothing_runs_before_all_of_it_is_written(harness: FanOutHarness) -> None:
    harness.begin()
    crash = crashing(harness.memory.intake.write_part, after=True)
    harness.memory.intake.write_part = crash  # type: ignore[method-assign,assignment]
    with pytest.raises(Crash):
        harness.complete("list", {"items": ["a", "b", "c"]})
    assert harness.state("review") is READY
    assert not any("[" in name for name in harness.queued())
    visible = harness.memory.jobs.picture(harness.job).visible_tasks
    assert [task.ref.task_id for task in visible] == ["list", "review", "sum"]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "call", ["intake.write_part", "fan_outs.note_expanded", "fan_outs.open", "fan_outs.gather"]
)
def test_a_crash_anywhere_is_made_good_once(
    harness: FanOutHarness, call: str, *, after: bool
) -> None:
    harness.begin()
    place, _, name = call.partition(".")
    owner = getattr(harness.memory, place)
    original = getattr(owner, name)
    setattr(owner, name, crashing(original, after=after))
    with pytest.raises(Crash):
        harness.run_through(("a", "b", "c"))
    setattr(owner, name, original)
    harness.wake("review", by_event=False)
    start = start_of(harness.task("review"))
    harness.wake(start.task_id, by_event=False)
    harness.work_off()
    for item in harness.items():
        if not harness.state(item).settled:
            harness.complete(item, item)
    harness.wake("review", by_event=False)
    assert harness.output() == ["review[0]", "review[1]", "review[2]"]
    assert harness.memory.state.jobs[harness.job].total_tasks == 6
    assert harness.emitted()["Task Expanded"] == 1
    assert harness.queued() >= {"sum"}


def test_a_tenant_without_room_lets_the_fan_out_wait(harness: FanOutHarness) -> None:
    object.__setattr__(harness.fan_outs.open_tasks, "most", 5)
    harness.fan_out()
    task = harness.memory.state.tasks[harness.job.task("review")]
    assert task.state is READY
    assert task.due_at_ms is not None
    assert (task.last_error or "").startswith("waits for room: ")
    object.__setattr__(harness.fan_outs.open_tasks, "most", 6)
    harness.wake("review", by_event=False)
    assert harness.state("review") is WAITING


def test_outputs_that_are_too_large_together_fail_the_fan_out(harness: FanOutHarness) -> None:
    harness.fan_out(("a", "b"))
    for number in (0, 1):
        harness.complete(f"review[{number}]", "x" * 6_000_000)
    assert harness.state("review") is TaskState.FAILED
    assert harness.error().startswith("the outputs of 2 items have more than 10,000,000 bytes")


def test_the_output_is_in_the_bucket_once(harness: FanOutHarness) -> None:
    harness.fan_out(("a",))
    harness.complete("review[0]", 1)
    [key] = harness.memory.blobs.keys("task/gathered/")
    assert json.loads(harness.memory.blobs.get(key)) == [1]
