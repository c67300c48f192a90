"""What is a reference, what only looks like one, and where it is."""

from typing import Any

import pytest

from switchyard.domain.json_values import MAX_DEPTH
from switchyard.domain.prompts.references import (
    MAX_LENGTH,
    NotAReference,
    Reference,
    references_in,
)


def steps(text: str) -> tuple[str | int, ...]:
    (reference,) = references_in(text)
    assert (reference.text, reference.task_id) == (text, "scrape")
    return reference.steps


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("", ()),
        (".title", ("title",)),
        (".products[0].name", ("products", 0, "name")),
        ("[0][12]", (0, 12)),
        ('["a name"]', ("a name",)),
        ('["] } \\" \\u00fc ü"].x', ('] } " ü ü', "x")),
        ('[""]', ("",)),
        (".0", ("0",)),
        (".output.output", ("output", "output")),
        (".a-b_c", ("a-b_c",)),
    ],
)
def test_a_reference_is_a_task_and_the_steps_into_its_output(
    rest: str, expected: tuple[str | int, ...]
) -> None:
    assert steps(f"${{tasks.scrape.output{rest}}}") == expected


@pytest.mark.parametrize(
    "text",
    [
        "${tasks.scrape}",
        "${tasks.scrape.outputs}",
        "${tasks.scrape.input.x}",
        "${tasks..output}",
        "${tasks.two words.output}",
        "${tasks.scrape.output.}",
        "${tasks.scrape.output.ü}",
        "${tasks.scrape.output[-1]}",
        "${tasks.scrape.output[007]}",
        "${tasks.scrape.output[٣]}",
        "${tasks.scrape.output[9999999999]}",
        "${tasks.scrape.output['x']}",
        '${tasks.scrape.output["x]}',
        '${tasks.scrape.output["\\x"]}',
        '${tasks.scrape.output["a\nb"]}',
        "${tasks.scrape.output .x}",
        "${tasks.scrape.output",
        "${tasks.",
        f"${{tasks.{'x' * 129}.output}}",
        f"${{tasks.scrape.output.{'x' * MAX_LENGTH}}}",
    ],
)
def test_what_begins_like_a_reference_has_to_be_one(text: str) -> None:
    with pytest.raises(NotAReference, match="is no reference") as refused:
        references_in({"a": [f"before {text} after"]})
    assert len(str(refused.value)) < 300


def test_what_is_no_reference_is_named_up_to_its_brace() -> None:
    with pytest.raises(NotAReference) as refused:
        references_in("${tasks.a.outptu} and so on")
    assert str(refused.value) == (
        "${tasks.a.outptu} is no reference: one looks like ${tasks.ID.output.name[0]}, "
        "and $${ stands for ${ as it is"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "${HOME} $5 {{tasks.a.output}} $tasks.a.output",
        "${task.a.output}",
        "${ tasks.a.output}",
        "${Tasks.a.output}",
        "$${tasks.a.output}",
        "$${tasks.",
        "$$${tasks.a.output}",
    ],
)
def test_everything_else_stays_as_it_is_written(text: str) -> None:
    assert references_in([text]) == []


def test_references_are_found_anywhere_and_say_where() -> None:
    value = {
        "a": ["x", "${tasks.one.output} and ${tasks.two.output.t}"],
        "b": {"c": "${tasks.three.output[1]}"},
        "${tasks.names-of-members.output}": 1,
        "d": [1, None, True, 2.5],
    }
    assert references_in(value) == [
        Reference(("a", 1), "${tasks.one.output}", "one", ()),
        Reference(("a", 1), "${tasks.two.output.t}", "two", ("t",)),
        Reference(("b", "c"), "${tasks.three.output[1]}", "three", (1,)),
    ]
    assert references_in("${tasks.one.output}")[0].path == ()


def test_the_deepest_input_is_looked_through() -> None:
    value: Any = "${tasks.a.output}"
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    (reference,) = references_in(value)
    assert reference.path == (0,) * (MAX_DEPTH - 1)


@pytest.mark.parametrize(
    "repeated", ['${tasks.a.output["', "${tasks.a.output.x", "${tasks.", "${tasks.a.output["]
)
def test_hostile_texts_are_refused_at_their_beginning(repeated: str) -> None:
    """Read anew from every beginning, megabytes of these would take hours."""
    with pytest.raises(NotAReference):
        references_in(repeated * (2_000_000 // len(repeated)))


@pytest.mark.parametrize("repeated", ["$", "$${", "${", "$${tasks."])
def test_megabytes_that_are_almost_references_are_read_once(repeated: str) -> None:
    assert references_in(repeated * (1_000_000 // len(repeated))) == []
