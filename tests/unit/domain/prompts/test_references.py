"""References to what others made: checked when a job is accepted, resolved when a task is."""

from typing import Any

import pytest

from switchyard.domain.json_values import MAX_DEPTH
from switchyard.domain.prompts.references import (
    NotAReference,
    UnresolvedReference,
    reference_problems,
    resolve,
)
from tests.builders import specs

OUTPUTS = {
    "scrape": {
        "title": "Blue",
        "count": 3,
        "ratio": 1.5,
        "ok": True,
        "nothing": None,
        "products": [{"name": "a cup"}, {"name": "ü"}],
        "a name": "quoted",
        "0": "zero",
    },
    "list": [10, 20],
    "text": "${tasks.scrape.output}",
    "null": None,
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("${tasks.scrape.output.products[1].name}", "ü"),
        ("${tasks.scrape.output.products}", [{"name": "a cup"}, {"name": "ü"}]),
        ("${tasks.scrape.output.count}", 3),
        ("${tasks.scrape.output.ok}", True),
        ("${tasks.scrape.output.nothing}", None),
        ('${tasks.scrape.output["a name"]}', "quoted"),
        ("${tasks.scrape.output.0}", "zero"),
        ("${tasks.list.output}", [10, 20]),
        ("${tasks.list.output[1]}", 20),
        ("${tasks.null.output}", None),
    ],
)
def test_a_text_that_is_one_reference_becomes_the_value_itself(given: str, expected: Any) -> None:
    assert resolve({"x": [given]}, OUTPUTS) == {"x": [expected]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("<${tasks.scrape.output.title}>", "<Blue>"),
        ("${tasks.scrape.output.count} of ${tasks.list.output}", "3 of [10,20]"),
        ("${tasks.scrape.output.count}${tasks.scrape.output.ratio}", "31.5"),
        (" ${tasks.scrape.output.products}", ' [{"name":"a cup"},{"name":"ü"}]'),
        ("is ${tasks.scrape.output.ok}, ${tasks.null.output}", "is true, null"),
    ],
)
def test_inside_a_longer_text_it_becomes_text(given: str, expected: str) -> None:
    assert resolve(given, OUTPUTS) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("$${tasks.scrape.output}", "${tasks.scrape.output}"),
        ("$${x} ${x} $$ $", "${x} ${x} $$ $"),
        ("$$${tasks.scrape.output.title}", "$${tasks.scrape.output.title}"),
        ("$${${tasks.scrape.output.title}", "${Blue"),
    ],
)
def test_two_dollars_stand_for_a_brace_as_it_is(given: str, expected: str) -> None:
    assert resolve(given, OUTPUTS) == expected


def test_what_a_reference_brings_in_is_not_looked_at() -> None:
    assert resolve(["${tasks.text.output}"], OUTPUTS) == ["${tasks.scrape.output}"]


def test_everything_else_stays_and_the_input_itself_is_not_changed() -> None:
    given = {"${tasks.scrape.output}": 1, "a": [None, 2.5, {"b": "${HOME} ${tasks.null.output}"}]}
    before = repr(given)
    assert resolve(given, OUTPUTS) == {
        "${tasks.scrape.output}": 1,
        "a": [None, 2.5, {"b": "${HOME} null"}],
    }
    assert repr(given) == before


@pytest.mark.parametrize(
    ("rest", "lack"),
    [
        ("scrape.output.title.x", "output.title is a text, which has no parts"),
        ("scrape.output.count[0]", "output.count is a number, which has no parts"),
        ("scrape.output.nothing.x", "output.nothing is null, which has no parts"),
        ("scrape.output.ok.x", "output.ok is true or false, which has no parts"),
        ("scrape.output.price", "output has no member 'price'"),
        ("scrape.output.products[2].name", "output.products has 2 items, no [2]"),
        ("scrape.output.products[0].price", "output.products[0] has no member 'price'"),
        ("scrape.output.products.name", "output.products is a list, which has no member 'name'"),
        ("scrape.output[0]", "output is an object, which has no [0]"),
        ("skipped.output.x", "'skipped' did not complete"),
    ],
)
def test_an_absent_value_is_named_with_the_part_that_is_missing(rest: str, lack: str) -> None:
    with pytest.raises(UnresolvedReference) as missing:
        resolve({"a": f"x ${{tasks.{rest}}}"}, OUTPUTS)
    assert str(missing.value) == f"${{tasks.{rest}}} has no value: {lack}"


def test_what_is_no_reference_is_not_resolved() -> None:
    with pytest.raises(NotAReference):
        resolve("${tasks.scrape}", OUTPUTS)


@pytest.mark.parametrize("text", ["${tasks.big.output}", "x${tasks.big.output[0]}"])
def test_references_do_not_multiply_an_output_without_end(text: str) -> None:
    with pytest.raises(UnresolvedReference, match=r"bring in more than 10,000,000 characters"):
        resolve([text] * 200_000, {"big": ["x" * 1_000]})


def test_the_deepest_input_is_resolved() -> None:
    value: Any = "${tasks.list.output}"
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    for _ in range(MAX_DEPTH - 1):
        value = resolve(value, OUTPUTS)[0]
    assert value == [10, 20]


def said(edges: dict[str, list[str]], **inputs: Any) -> list[str]:
    return [str(problem) for problem in reference_problems(specs(edges, **inputs))]


def test_any_ancestor_may_be_named() -> None:
    edges: dict[str, list[str]] = {"c": ["b"], "b": ["a"], "a": []}
    assert said(edges, c={"x": ["${tasks.a.output} ${tasks.b.output.y}"]}) == []


def test_only_an_ancestor_may_be_named() -> None:
    edges: dict[str, list[str]] = {"a": [], "b": ["a"], "beside": ["a"]}
    named = {"x": ["${tasks.beside.output}", "${tasks.b.output}", "${tasks.nobody.output[1]}"]}
    assert said(edges, b=named, a="${tasks.b.output.x} ${tasks.__start__.output}") == [
        "tasks.0.input: ${tasks.b.output.x} names 'b', on which 'a' does not depend",
        "tasks.0.input: ${tasks.__start__.output} names '__start__', which does not exist",
        "tasks.1.input.x.0: ${tasks.beside.output} names 'beside', on which 'b' does not depend",
        "tasks.1.input.x.1: ${tasks.b.output} names 'b', on which 'b' does not depend",
        "tasks.1.input.x.2: ${tasks.nobody.output[1]} names 'nobody', which does not exist",
    ]


def test_each_text_that_is_no_reference_is_named() -> None:
    problems = said({"a": []}, a=["${tasks.a}", "fine", "${tasks.b"])
    assert [problem.partition(" is no")[0] for problem in problems] == [
        "tasks.0.input.0: ${tasks.a}",
        "tasks.0.input.2: ${tasks.b",
    ]


def test_tasks_that_are_added_may_name_those_that_were_there() -> None:
    there = {"b": ("a",), "c": ("b",)}  # `a` has no parents
    added = specs({"d": ["c"]}, d=["${tasks.a.output}", "${tasks.b.output}", "${tasks.x.output}"])
    (problem,) = reference_problems(added, declared=there)
    assert str(problem) == "tasks.0.input.2: ${tasks.x.output} names 'x', which does not exist"
    (problem,) = reference_problems(specs({"d": ["b"]}, d="${tasks.c.output}"), declared=there)
    assert "names 'c', on which 'd' does not depend" in str(problem)


def test_in_a_cycle_no_ancestors_are_listed() -> None:
    edges = {"a": ["b"], "b": ["a"], "c": []}
    assert said(edges, c="${tasks.a.output} ${tasks.nobody.output}") == [
        "tasks.2.input: ${tasks.nobody.output} names 'nobody', which does not exist"
    ]


def test_a_dependency_that_does_not_exist_is_not_said_twice() -> None:
    assert said({"a": ["nobody"]}, a="${tasks.nobody.output}") == []


def test_ten_thousand_tasks_may_each_name_their_first_ancestor() -> None:
    edges: dict[str, list[str]] = {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(10_000)}
    inputs = {f"t{n}": "${tasks.t0.output}" for n in range(10_000)}
    (problem,) = said(edges, **inputs)
    assert problem == "tasks.0.input: ${tasks.t0.output} names 't0', on which 't0' does not depend"
