"""What `docs/workflows.md` says of conditions is what they do."""

import re
from pathlib import Path

import pytest
import yaml

from switchyard.domain.errors import InvalidCondition
from switchyard.domain.jobs.condition_parser import (
    MAX_CHARACTERS,
    MAX_NESTING,
    MAX_REFERENCES,
    parse_condition,
)
from switchyard.domain.jobs.condition_reasons import MAX_REASON, MAX_SHOWN
from switchyard.domain.jobs.conditions import MAX_COMPARED, evaluate

PAGE = (Path(__file__).parents[2] / "docs" / "workflows.md").read_text()
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
ROWS = PAGE.partition("### What a condition consists of")[2].partition("### Absent")[0]
EXAMPLES = re.findall(r"`([^`]*\$\{[^`]*)`", ROWS)
MISTAKES = {"1 < ${tasks.a.output.n} < 9"}


def conditions_in(block: str) -> list[str]:
    content = yaml.safe_load(block)
    return [task["when"] for task in content.get("tasks", [content]) if "when" in task]


@pytest.mark.parametrize("text", [text for block in BLOCKS for text in conditions_in(block)])
def test_conditions_of_yaml_blocks_can_be_read(text: str) -> None:
    parse_condition(text)


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_can_be_read(text: str) -> None:
    if text in MISTAKES:
        with pytest.raises(InvalidCondition):
            parse_condition(text)
    else:
        parse_condition(text)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('${tasks.triage.output.severity} == "high"', {"severity": "low"}),
        ("${tasks.triage.output.score} > 3", {}),
    ],
)
def test_reasons_are_shown_as_they_are(text: str, output: dict[str, str]) -> None:
    assert f"\n{evaluate(parse_condition(text), {'triage': output}).reason}\n" in PAGE


@pytest.mark.parametrize("end", ['= "high"', "== high"])
def test_mistakes_are_shown_as_they_are(end: str) -> None:
    with pytest.raises(InvalidCondition) as refused:
        parse_condition(f"${{tasks.triage.output.severity}} {end}")
    assert f"\n{refused.value}\n" in PAGE


def test_limits_are_those_of_the_code() -> None:
    for limit in (MAX_CHARACTERS, MAX_REFERENCES, MAX_NESTING):
        assert f"| {limit:,} | the job is refused |" in PAGE
    assert f"| {MAX_COMPARED:,} values;" in PAGE
    assert f"at most {MAX_REASON} characters, and shows at most {MAX_SHOWN} of a value" in PAGE
