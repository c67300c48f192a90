"""Job templates: what placeholders become, and what no event can do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.prompts.references import Place, references_in, resolve
from switchyard.domain.triggers.job_templates import (
    NoValue,
    has_placeholder_at,
    render,
    template_problems,
    with_stand_ins,
)

EVENT = {
    "id": "e-1",
    "time": "2026-11-16T08:00:00Z",
    "detail-type": "Object Created",
    "resources": ["arn:one", "arn:two"],
    "detail": {"object": {"key": "uploads/a.csv", "size": 7}, "none": None, "flags": [1, True]},
}
VALUES = {"event": EVENT, "schedule": {"time": "noon"}}


def of_input(text: Any) -> Any:
    return {"tasks": [{"taskId": "t", "input": text}]}


def filled(text: Any) -> Any:
    return render(of_input(text), VALUES)["tasks"][0]["input"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{event.detail.object.key}}", "uploads/a.csv"),
        ("{{ event.detail.object.size }}", 7),
        ("{{event.detail.object}}", {"key": "uploads/a.csv", "size": 7}),
        ("{{event.resources.1}}", "arn:two"),
        ("{{event.detail.none}}", None),
        ("{{schedule.time}}", "noon"),
        ("{{event.detail-type}}: {{event.time}}", "Object Created: 2026-11-16T08:00:00Z"),
        ("{{event.detail.object.size}} bytes, {{event.detail.flags}}", "7 bytes, [1,true]"),
        ("{{shop}} and {{input.x}} stay", "{{shop}} and {{input.x}} stay"),
        ("no placeholder ${tasks.a.output}", "no placeholder ${tasks.a.output}"),
        ("{{event.id}}: ${tasks.a.output.b}", "e-1: ${tasks.a.output.b}"),
        ({"deep": [["{{event.id}}"]], "{{event.id}}": 1}, {"deep": [["e-1"]], "{{event.id}}": 1}),
        (3.5, 3.5),
    ],
)
def test_a_placeholder_becomes_its_value(text: Any, value: Any) -> None:
    assert filled(text) == value


def test_every_text_of_the_job_is_filled() -> None:
    template = {
        "name": "for {{event.id}}",
        "tags": {"key": "{{event.detail.object.key}}"},
        "tasks": [{"taskId": "t-{{event.id}}", "name": "n", "dependsOn": ["{{event.id}}"]}],
    }
    assert render(template, VALUES) == {
        "name": "for e-1",
        "tags": {"key": "uploads/a.csv"},
        "tasks": [{"taskId": "t-e-1", "name": "n", "dependsOn": ["e-1"]}],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{event.detail.nobody}}", "event.detail has no 'nobody'"),
        ("x {{event.detail.object.key.more}}", "event.detail.object.key has no 'more'"),
        ("{{event.resources.2}}", "event.resources has no '2'"),
        ("{{schedule.day}}", "schedule has no 'day'"),
    ],
)
def test_a_placeholder_without_a_value_is_an_error_that_names_it(text: str, words: str) -> None:
    with pytest.raises(NoValue, match=words):
        filled(text)


hostile = st.lists(
    st.sampled_from(["$", "{", "}", "${tasks.a.output}", "$${", "{{event.id}}", "tasks.a.output"]),
    max_size=6,
).map("".join)


@given(hostile)
@pytest.mark.parametrize(
    "template",
    [
        "{{event.x}}",
        "a {{event.x}} b",
        "{{event.x}}{{event.x}}",
        "{{event.x}}{tasks.a.output}",
        "${tasks.a.output} {{event.x}} $${tasks.a.output}",
        "{{event.x}} ${tasks.b.output.c}",
    ],
)
def test_no_event_brings_a_reference_in_or_takes_one_away(template: str, text: str) -> None:
    meant = references_in(template)
    rendered = render(of_input(template), {"event": {"x": text}})["tasks"][0]["input"]
    assert [found.text for found in references_in(rendered)] == [found.text for found in meant]
    outputs = {"a": "A", "b": {"c": "C"}}
    plain = resolve(template, outputs).replace("{{event.x}}", text)
    assert resolve(rendered, outputs) == plain


@given(hostile)
def test_inside_a_value_nothing_becomes_a_reference_either(text: str) -> None:
    value = {"list": [text], "text": text}
    rendered = render(of_input("{{event.x}}"), {"event": {"x": value}})
    assert resolve(rendered["tasks"][0]["input"], {"a": "A"}) == value


def test_a_dollar_that_would_hide_a_reference_is_refused() -> None:
    template = of_input("{{event.x}}${tasks.a.output}")
    assert render(template, {"event": {"x": "5"}}) == of_input("5${tasks.a.output}")
    with pytest.raises(NoValue, match=r"cannot stand before \$\{tasks.a.output\}"):
        render(template, {"event": {"x": "5$"}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{event.a b}}", "{{event.a b}} is no placeholder"),
        ("{{event['x']}}", "{{event['x']}} is no placeholder"),
        ("{{event.x", "{{event.x is no placeholder"),
        ("{{event.x}", "{{event.x} is no placeholder"),
        ("{{schedule.time}}", "only a trigger with a schedule has that"),
        ("${tasks.a.outputs}", "is no reference"),
        ("${tasks.{{event.x}}.output}", "is no reference"),
    ],
)
def test_a_placeholder_that_can_never_be_filled_is_reported_with_its_place(
    text: str, message: str
) -> None:
    (problem,) = template_problems(of_input({"deep": [text]}), roots=frozenset({"event"}))
    assert problem.path == ("tasks", 0, "input", "deep", 0)
    assert message in problem.message


def test_what_only_looks_like_a_placeholder_is_none() -> None:
    fine = of_input(["{{}}", "{{event.detail.x}}", "{{event.payload}}", "{{#each a}}", "{{ a b }}"])
    assert template_problems(fine, roots=frozenset({"event"})) == []


def test_placeholders_of_descriptions_are_not_those_of_a_trigger() -> None:
    fine = of_input(["{{input.y}}", "{{tasks.x.output}}", "{{ steps.a.output.0 }}"])
    assert template_problems(fine, roots=frozenset({"event"})) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{{shedule.time}}",
            "{{shedule.time}} has no value: the trigger has event and schedule; "
            "did you mean 'schedule'?",
        ),
        ("{{evnt.id}}", "did you mean 'event'?"),
        ("{{inptu.x}}", "did you mean 'input'?"),
        ("{{shop}}", "{{shop}} has no value: the trigger has event and schedule"),
        (
            "{{schedule.tiem}}",
            "{{schedule.tiem}} has no value: a schedule has {{schedule.time}} alone",
        ),
        ("{{schedule.time.hour}}", "a schedule has {{schedule.time}} alone"),
        ("{{event.detial.x}}", "events have no 'detial'; did you mean 'detail'?"),
    ],
)
def test_a_mistyped_placeholder_is_refused_with_a_suggestion(text: str, message: str) -> None:
    (problem,) = template_problems({"name": f"x {text}"}, roots=frozenset({"event", "schedule"}))
    assert problem.path == ("name",)
    assert message in problem.message


def test_a_reference_outside_of_inputs_is_just_text() -> None:
    assert template_problems({"name": "${tasks."}, roots=frozenset()) == []


def test_stand_ins_keep_names_that_belong_together_together() -> None:
    template = {"a": "scrape-{{event.id}}", "b": ["scrape-{{event.id}}", 7, None]}
    assert with_stand_ins(template) == {"a": "scrape-x1", "b": ["scrape-x1", 7, None]}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("tasks", 0, "taskId"), True),
        (("tasks", 0, "name"), False),
        (("tags", "any"), True),
        (("nobody",), False),
        (("tasks", 9), False),
    ],
)
def test_what_an_event_decides_is_known_by_its_place(path: Place, found: bool) -> None:
    template = {"tasks": [{"taskId": "{{event.id}}", "name": "n"}], "tags": "{{event.tags}}"}
    assert has_placeholder_at(template, path) is found
