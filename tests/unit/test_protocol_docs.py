"""The page on the protocol says of every transition what the code does."""

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.scheduling import limit_transitions
from switchyard.domain.tasks import (
    edge_transitions,
    fan_out_transitions,
    held_transitions,
    ready_transitions,
)
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.transition import Transition
from tests.unit.domain.transition_samples import (
    JOBS,
    LIMITS,
    TASKS,
    due_text,
    guard_text,
    origin,
    writes_text,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
OF_TASKS = (
    of_tasks,
    edge_transitions,
    fan_out_transitions,
    held_transitions,
    ready_transitions,
)
SECTIONS = {"## Tasks": TASKS, "## Jobs": JOBS, "## Limits": LIMITS}


def rows(heading: str) -> dict[str, list[str]]:
    """Return the first table below a heading, each row by its first cell."""
    table = PAGE.partition(f"\n{heading}\n")[2].partition("\n| ")[2].partition("\n\n")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {name.replace("`", ""): cells for name, *cells in lines}


@pytest.mark.parametrize(
    ("heading", "transitions"), SECTIONS.items(), ids=["tasks", "jobs", "limits"]
)
def test_every_transition_is_documented_as_it_is(
    heading: str, transitions: Mapping[str, Transition]
) -> None:
    emitted = {name: cells[:4] for name, cells in rows(heading).items()}
    assert emitted == {
        name: [origin(one.guard), guard_text(one.guard), writes_text(one), due_text(one)]
        for name, one in transitions.items()
    }


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_transition_has_a_reason(heading: str) -> None:
    for name, (*_, why) in rows(heading).items():
        assert len(why.split()) > 5, name


def test_the_page_says_what_proves_that_a_transition_was_written() -> None:
    shown = {
        f"{kind}: {one.name}": guard_text(one.already)
        for kind, transitions in (("task", TASKS), ("job", JOBS))
        for one in transitions.values()
        if one.already is not None
    }
    assert {name: cells[0] for name, cells in rows("### Lost answers").items()} == shown


@pytest.mark.parametrize(
    ("modules", "transitions"),
    [(OF_TASKS, TASKS), ((of_jobs,), JOBS), ((limit_transitions,), LIMITS)],
    ids=["tasks", "jobs", "limits"],
)
def test_every_function_is_in_the_table(
    modules: tuple[ModuleType, ...], transitions: Mapping[str, Transition]
) -> None:
    made = {
        name
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    combined = {"cancel"}  # one of two others, whichever the task's state asks for
    assert {one.name for one in transitions.values()} == made - combined


def test_every_file_that_is_named_exists() -> None:
    package = ROOT / "layers/shared/python/switchyard"
    for name in re.findall(r"`([a-z_/]+\.py)`", PAGE):
        assert (package / name).exists() or (ROOT / name).exists(), name


def test_every_decision_that_is_named_exists() -> None:
    links = re.findall(r"\((decisions/[^)]+)\)", PAGE)
    assert links
    assert all((ROOT / "docs" / link).exists() for link in links)
