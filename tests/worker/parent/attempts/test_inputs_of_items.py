"""A task is given the artifacts of a fan-out's items, each in a folder with the item's key."""

from typing import Any

import pytest

from switchyard.domain.fan_out.items import ids_in
from switchyard.domain.fan_out.plan import start_of
from switchyard.domain.jobs.files import MAX_INPUT_ITEMS
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks.task import Outcome, Payload
from switchyard_worker.parent.attempts.inputs import InputFinder, NoSuchInput
from tests.builders import a_task
from tests.worker.harness import WorkerHarness


def a_fan_out(harness: WorkerHarness, shape: Any, *files: str, without: str = "") -> None:
    """A fan-out that completed, whose items left these files; one of them did not complete."""
    memory = harness.memory
    done = Outcome(state=TaskState.COMPLETED)
    fan_out = a_task("review", kind=TaskKind.FAN_OUT, state=TaskState.COMPLETED, outcome=done)
    memory.state.tasks[fan_out.ref] = fan_out
    memory.state.payloads[start_of(fan_out)] = Payload(input=shape)
    for name in ids_in(shape, "review"):
        prefix = f"task/logs/{name}/1/"
        state = TaskState.FAILED if name == without else TaskState.COMPLETED
        item = a_task(name, state=state, outcome=Outcome(state=state, artifacts=prefix))
        memory.state.tasks[item.ref] = item
        for file in ("task-result.json", *files):
            memory.blobs.put(f"{prefix}artifacts/{file}", b"x", content_type="text/plain")


def found(harness: WorkerHarness, *references: str) -> list[str]:
    memory = harness.memory
    finder = InputFinder(leases=memory.leases, payloads=memory.payloads, blobs=memory.blobs)
    return [file.name for file in finder.found_for(a_task("report"), references)]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (
            "review/**/*.md",
            ["review/0/a.md", "review/0/b/c.md", "review/x/a.md", "review/x/b/c.md"],
        ),
        ("review/*/a.md", ["review/0/a.md", "review/x/a.md"]),
        ("review/x/**", ["review/x/a.md", "review/x/b/c.md"]),
        ("review/0/task-result.json", ["review/0/task-result.json"]),
        ("review/*/task-result.json", ["review/0/task-result.json", "review/x/task-result.json"]),
    ],
)
def test_each_item_has_a_folder_with_its_key(
    harness: WorkerHarness, pattern: str, names: list[str]
) -> None:
    a_fan_out(harness, ["0", "x"], "a.md", "b/c.md")
    assert found(harness, pattern) == names


def test_items_of_two_lists_are_in_folders_of_folders(harness: WorkerHarness) -> None:
    a_fan_out(harness, [["a", ["0", "1"]], ["b", []]], "f.md")
    assert found(harness, "review/a/1/*.md") == ["review/a/1/f.md"]


def test_an_item_whose_failure_was_tolerated_has_no_files(harness: WorkerHarness) -> None:
    a_fan_out(harness, ["0", "1"], "a.md", without="review[0]")
    assert found(harness, "review/**") == ["review/1/a.md"]


@pytest.mark.parametrize("pattern", ["review/*.md", "review/7/*.md"])
def test_a_pattern_that_means_no_file_is_refused(harness: WorkerHarness, pattern: str) -> None:
    a_fan_out(harness, ["0"], "a.md")
    with pytest.raises(NoSuchInput, match="files: nothing matches review/"):
        found(harness, pattern)


def test_an_empty_list_has_no_files(harness: WorkerHarness) -> None:
    a_fan_out(harness, [])
    with pytest.raises(NoSuchInput, match="there are no files"):
        found(harness, "review/**")


def test_only_so_many_items_are_looked_at(harness: WorkerHarness) -> None:
    keys = [str(number) for number in range(MAX_INPUT_ITEMS + 1)]
    a_fan_out(harness, keys, "a.md")
    with pytest.raises(NoSuchInput, match="201 items of 'review' are meant; artifacts of at most"):
        found(harness, "review/**/*.md")
    assert found(harness, "review/200/*.md", "review/?/*.md")[-1] == "review/9/a.md"
