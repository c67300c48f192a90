"""What a condition says of outputs, in which words, and which tasks it may name."""

import re
from typing import Any

import pytest

from switchyard.domain.jobs.condition_parser import parse_condition
from switchyard.domain.jobs.condition_reasons import MAX_REASON
from switchyard.domain.jobs.conditions import (
    MAX_COMPARED,
    CannotBeJudged,
    DoesNotHold,
    Holds,
    Judgement,
    evaluate,
)

OUTPUTS: dict[str, Any] = {
    "triage": {
        "severity": "high",
        "score": 3,
        "ratio": 1.0,
        "urgent": True,
        "owner": None,
        "tags": ["db", "net", 1, None, [2]],
        "place": {"x": 1, "y": [True]},
        "same": {"y": [True], "x": 1.0},
    },
    "empty": {},
}


_SHORT = re.compile(r"\b(triage|empty|gone|big)((?:\.\w+|\[\d\])*)")


def judged(text: str, outputs: dict[str, Any] | None = None) -> Judgement:
    """Evaluate a condition in which `triage.x` is short for `${tasks.triage.output.x}`."""
    text = _SHORT.sub(r"${tasks.\1.output\2}", text)
    return evaluate(parse_condition(text), OUTPUTS if outputs is None else outputs)


@pytest.mark.parametrize(
    "text",
    [
        'triage.severity == "high"',
        'triage.severity != "low"',
        "triage.severity != 3",
        "triage.score == 3.0",
        "triage.ratio == 1",
        "triage.ratio != true",
        "triage.urgent != 1",
        "triage.urgent",
        "not 1 == true",
        "triage.owner == null",
        "triage.owner != false",
        "null != 0",
        '1 != "1"',
        "triage.place == triage.same",
        "triage.tags != []",
        "empty != []",
        "triage.place.y != [1]",
        "triage.place.y == [true]",
        "triage.tags[4] == [2.0]",
        "triage.score > 2 and triage.score >= 3 and triage.score < 4 and triage.score <= 3",
        '"abc" < "abd" and "Z" < "a" and "" < "a"',
        '"db" in triage.tags',
        "1.0 in triage.tags and null in triage.tags and [2] in triage.tags",
        "true not in triage.tags",
        'triage.severity in ["high", "critical"]',
        'triage.severity not in ["low"]',
        '"ig" in triage.severity and "" in triage.severity and "x" not in triage.severity',
        "not triage.severity in []",
        "exists triage.owner",
        "not exists triage.nothing",
        "not exists gone",
        "not exists triage.severity.x",
        "exists triage",
        "true or gone.x == 1",
        "not (false and gone.x == 1)",
        "exists gone.x and gone.x > 1 or triage.urgent",
    ],
)
def test_what_holds(text: str) -> None:
    assert isinstance(judged(text), Holds)
    assert isinstance(judged(f"not ({text})"), DoesNotHold)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("gone.x == 1", "${tasks.gone.output.x} has no value: 'gone' did not complete"),
        ("triage.nothing != 1", "has no value: output has no member 'nothing'; ask exists first"),
        ("triage.severity < 3", "a text and a number have no order"),
        ("triage.urgent < triage.urgent", "true or false and true or false have no order"),
        ("triage.owner >= 0", "null and a number have no order"),
        ("triage.tags < triage.tags", "a list and a list have no order"),
        ("1 in triage.severity", "a number cannot be in a text"),
        ('"x" in triage.place', "a text cannot be in an object"),
        ("1 in triage.score", "a number cannot be in a number"),
        ("triage.score", "a condition is true or false, not a number; "),
        ("triage.owner or true", "a condition is true or false, not null"),
        ("triage.urgent and gone", "${tasks.gone.output} has no value"),
        ("not gone", "${tasks.gone.output} has no value"),
    ],
)
def test_what_cannot_be_judged_says_why(text: str, cause: str) -> None:
    judgement = judged(text)
    assert isinstance(judgement, CannotBeJudged)
    assert cause in judgement.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            'triage.severity == "low"',
            'the condition ${tasks.triage.output.severity} == "low" does not hold: '
            '${tasks.triage.output.severity} is "high"',
        ),
        (
            "exists gone.x or triage.place == triage.same",
            "the condition exists ${tasks.gone.output.x} or ${tasks.triage.output.place} == "
            "${tasks.triage.output.same} holds: ${tasks.gone.output.x} is absent, "
            '${tasks.triage.output.place} is {"x": 1, "y": [true]}, '
            '${tasks.triage.output.same} is {"y": [true], "x": 1.0}',
        ),
        (
            "triage.severity > 3",
            "the condition ${tasks.triage.output.severity} > 3 cannot be judged: "
            'a text and a number have no order; ${tasks.triage.output.severity} is "high"',
        ),
        ("true", "the condition true holds"),
    ],
)
def test_the_reason_shows_the_condition_and_its_values(text: str, reason: str) -> None:
    assert judged(text).reason == reason


def test_a_reason_is_short_and_ends_with_the_value_that_decided() -> None:
    parts = [f'triage.{"long" * 20}{n} != "{"x" * 40}"' for n in range(10)]
    outputs = {"triage": {f"{'long' * 20}{n}": "y" * 10_000 for n in range(10)} | {"last": 1}}
    reason = judged(" and ".join([*parts, "triage.last == 2"]), outputs).reason
    assert len(reason) <= MAX_REASON
    assert reason.endswith("…, ${tasks.triage.output.last} is 1")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\n\x1b[31mb\u202e\x00", '"a\\nb"'),
        ("x" * 61, f'"{"x" * 58}…'),
        ([1] * 1_000_000, "[" + "1, " * 19 + "1…"),
        ({"a": {"b": None, "c": []}}, '{"a": {"b": null, "c": []}}'),
        ("key sk-abcdefghijklmnopqrstuvwxyz", '"key [redacted]"'),
        ({"password": "hunter2"}, '{"password": "[redacted]"}'),
        (10**200, "a very large number"),
        (True, "true"),
        (1e300, "1e+300"),
    ],
)
def test_values_are_shown_short_and_clean(value: Any, shown: str) -> None:
    reason = judged("triage.x == 0", {"triage": {"x": value}}).reason
    assert reason.endswith(f"does not hold: ${{tasks.triage.output.x}} is {shown}")


def test_a_value_is_not_shown_if_its_name_says_that_it_is_secret() -> None:
    reason = judged("triage.password == 0", {"triage": {"password": "hunter2"}}).reason
    assert "hunter2" not in reason


def test_the_text_of_a_condition_is_shown_on_one_line_and_clean() -> None:
    reason = judged("true\n  and\t'\u202e' != 'x'").reason
    assert reason == "the condition true and '' != 'x' holds"


def test_deep_values_are_compared_and_shown() -> None:
    one: Any = 1
    other: Any = 1
    for _ in range(100_000):
        one, other = [one], [other]
    assert isinstance(judged("triage == gone", {"triage": one, "gone": other}), Holds)


def test_one_evaluation_compares_a_limited_number_of_values() -> None:
    outputs = {"big": [0] * (MAX_COMPARED // 2 - 1), "text": "a" * 10_000_000}
    assert isinstance(judged("big == big and big == big", outputs), Holds)
    judgement = judged("big == big and big == big and big == big", outputs)
    assert isinstance(judgement, CannotBeJudged)
    assert "it compares more than 500,000 values" in judgement.reason
    text = " and ".join(["'ab' not in ${tasks.text.output}"] * 6)
    assert isinstance(evaluate(parse_condition(text), outputs), CannotBeJudged)


def test_a_long_text_is_found_among_many_others() -> None:
    outputs = {"big": ["x"] * 100_000 + ["y" * 1_000_000]}
    text = "${tasks.big.output[100000]} in ${tasks.big.output}"
    assert isinstance(evaluate(parse_condition(text), outputs), Holds)
