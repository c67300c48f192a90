import json

from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.prompt import build_prompt, fill_placeholders
from switchyard.domain.text import without_control_characters


def test_the_prompt_has_four_sections_in_order() -> None:
    prompt = build_prompt(
        tag="a colour expert",
        description="Tag the colours of {{shop}}.",
        given={"shop": "Blue & Co"},
        context={"scrape": {"pages": 3}},
    )

    titles = [line for line in prompt.splitlines() if line.startswith("# ")]
    assert titles == ["# Role", "# Task", "# Input", "# Context from Previous Tasks"]
    assert "You are: a colour expert" in prompt
    assert "Tag the colours of Blue & Co." in prompt
    assert '## scrape\n\n```json\n{\n  "pages": 3\n}\n```' in prompt


def test_without_previous_tasks_the_context_says_so() -> None:
    prompt = build_prompt(tag="x", description="y", given=None, context={})

    assert prompt.endswith("# Context from Previous Tasks\n\nNone.\n")


def test_placeholders_reach_into_objects_and_show_json() -> None:
    given_input = {"a": {"b": [1, 2]}, "n": 0}

    assert fill_placeholders("{{a.b}} {{ n }}", given_input) == "[1, 2] 0"


def test_a_placeholder_without_a_value_stays_as_written() -> None:
    assert fill_placeholders("{{gone}} {{a.b.c}}", {"a": "text"}) == "{{gone}} {{a.b.c}}"


def test_what_a_placeholder_brings_in_is_not_expanded_again() -> None:
    assert fill_placeholders("{{a}}", {"a": "{{b}}", "b": "secret"}) == "{{b}}"


def test_control_characters_are_removed_and_newlines_stay() -> None:
    dirty = "a\x1b[31mb\u202ec\nd\te\x00"

    assert without_control_characters(dirty) == "a[31mbc\nd\te"
    assert "\x1b" not in build_prompt(tag=dirty, description=dirty, given=[dirty], context={})
    assert "u001b" not in build_prompt(tag="", description="", given={dirty: dirty}, context={})


@given(st.text())
def test_no_input_can_close_its_fence(text: str) -> None:
    prompt = build_prompt(tag="x", description="y", given={"text": text}, context={})

    fenced = prompt.split("```json\n", 1)[1].split("\n```", 1)[0]
    assert json.loads(fenced) == {"text": without_control_characters(text)}
