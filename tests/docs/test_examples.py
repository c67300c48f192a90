"""Examples can be submitted as they are, and say what they do and cost."""

from pathlib import Path

import pytest

from switchyard_cli.actions.functions import described
from switchyard_cli.files.job_file import read_addition, read_job
from switchyard_cli.files.trigger_file import read_triggers
from switchyard_cli.views.plan import plan_of
from tests.docs.pages import ROOT

EXAMPLES = sorted([*(ROOT / "examples").glob("*.yaml"), *(ROOT / "examples").glob("*/job.yaml")])
ADDITIONS = {"more-paragraphs.yaml"}
TRIGGERS = {"triggers.yaml"}
JOBS = [file for file in EXAMPLES if file.name not in ADDITIONS | TRIGGERS]


@pytest.mark.parametrize("example", JOBS, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_example_brings_all_its_definitions(example: Path) -> None:
    read = read_job(example)
    job, served = read.content, read.beside().functions
    functions = {name for place in served for name in described(place).definitions}

    assert plan_of(job)
    assert {task.name for task in job.tasks if task.name} == {*job.definitions, *functions}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_example_says_what_it_does_and_costs(example: Path) -> None:
    lines = example.read_text().splitlines()
    comment = lines[: next(n for n, line in enumerate(lines) if not line.startswith("#"))]

    assert len(comment[0]) > len("# ")
    assert any("Cost with Claude" in line for line in comment)


@pytest.mark.parametrize("example", JOBS, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_example_works_without_a_network_unless_it_searches_the_web(example: Path) -> None:
    job = read_job(example).content

    assert not any("https://" in str(task.input) for task in job.tasks)
    searches = any("WebSearch" in (each.tools or ()) for each in job.definitions.values())
    assert searches is ("WebSearch" in example.read_text())


def test_additions_and_triggers_are_valid() -> None:
    for name in ADDITIONS:
        assert read_addition(ROOT / "examples" / name).content.tasks
    for name in TRIGGERS:
        assert read_triggers(ROOT / "examples" / name).content.triggers
