from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.agent import AgentFailed
from switchyard_worker.agents.offline import OfflineAgent
from switchyard_worker.agents.schema_example import example_of
from switchyard_worker.boundary import Assignment

SCHEMAS: dict[str, dict[str, Any]] = {
    "const": {"const": {"a": [1]}},
    "enum": {"enum": ["red", "blue"]},
    "examples": {"type": "string", "examples": ["#aabbcc"], "pattern": "^#[0-9a-f]{6}$"},
    "default": {"type": "integer", "default": 7},
    "bounds": {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    "negative": {"type": "number", "maximum": -5},
    "multiple": {"type": "integer", "minimum": 10, "maximum": 20, "multipleOf": 7},
    "half": {"type": "number", "minimum": 1.2, "maximum": 1.8, "multipleOf": 0.5},
    "narrow": {"type": "number", "minimum": 0.1, "maximum": 0.2},
    "lengths": {"type": "string", "minLength": 80, "maxLength": 90},
    "short": {"type": "string", "maxLength": 2},
    "nullable": {"type": ["null", "string"]},
    "any": {},
    "required without properties": {"type": "object", "required": ["x"]},
    "array": {"type": "array", "items": {"type": "boolean"}, "minItems": 7, "maxItems": 8},
    "unique": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 5},
    "tuple": {"type": "array", "prefixItems": [{"type": "string"}, {"const": 1}], "items": False},
    "anyOf": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "allOf": {
        "allOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "null"}}, "required": ["b"]},
        ]
    },
    "reference": {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "$ref": "#/$defs/node",
    },
    "nested": {
        "type": "object",
        "properties": {
            "when": {"type": "string", "format": "date-time"},
            "where": {"type": "array", "items": {"type": "string", "format": "uri"}},
            "who": {
                "type": "object",
                "properties": {"mail": {"type": "string", "format": "email"}},
            },
        },
        "required": ["when", "where", "who"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("seed", ["one", "two", "three"])
def test_what_it_invents_satisfies_the_schema(name: str, seed: str) -> None:
    schema = SCHEMAS[name]
    value = example_of(schema, seed=seed)

    checker = Draft202012Validator.FORMAT_CHECKER
    assert not list(Draft202012Validator(schema, format_checker=checker).iter_errors(value))


bounded_integers = st.tuples(st.integers(-1000, 1000), st.integers(0, 50)).map(
    lambda bounds: {"type": "integer", "minimum": bounds[0], "maximum": sum(bounds)}
)
bounded_texts = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(
    lambda sizes: {"type": "string", "minLength": sizes[0], "maxLength": sum(sizes)}
)
leaves = bounded_integers | bounded_texts | st.just({"type": "boolean"}) | st.just({"type": "null"})
schemas = st.recursive(
    leaves,
    lambda inner: (
        st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=4).map(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            }
        )
        | st.tuples(inner, st.integers(0, 4)).map(
            lambda kind: {"type": "array", "items": kind[0], "minItems": kind[1]}
        )
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(schema=schemas, seed=st.text())
def test_it_satisfies_any_combination(schema: dict[str, Any], seed: str) -> None:
    assert Draft202012Validator(schema).is_valid(example_of(schema, seed=seed))


def test_it_answers_the_same_for_the_same_prompt_and_varies_with_it() -> None:
    answers = [
        OfflineAgent().run(prompt, an_assignment(output_schema=SCHEMAS["nested"])).output
        for prompt in ("one", "one", "two")
    ]

    assert answers[0] == answers[1] != answers[2]


def test_without_a_schema_it_answers_in_text_and_costs_nothing() -> None:
    answer = OfflineAgent().run("a prompt of some length", an_assignment())

    assert list(answer.output) == ["text"]
    assert answer.effort.input_tokens == 6
    assert answer.effort.cost_usd == 0


def test_a_scripted_failure_passes_after_its_times() -> None:
    script = {"offline": {"fail": {"category": "rate-limit", "message": "slow down", "times": 1}}}

    with pytest.raises(AgentFailed, match="slow down") as failure:
        OfflineAgent().run("", an_assignment(input=script, attempt=1))

    assert failure.value.category is FailureCategory.RATE_LIMIT
    assert OfflineAgent().run("", an_assignment(input=script, attempt=2))


def test_a_script_can_give_the_output_and_its_usage() -> None:
    script = {"offline": {"output": [1], "usage": {"inputTokens": 9, "costUsd": 0.5}}}

    answer = OfflineAgent().run("", an_assignment(input=script))

    assert answer.output == [1]
    assert (answer.effort.input_tokens, answer.effort.cost_usd) == (9, 0.5)


@pytest.mark.parametrize("named", ["BAD_REQUEST", None, ["network"]])
def test_a_scripted_failure_of_no_category_is_answered_with_those_there_are(named: object) -> None:
    script = {"offline": {"fail": {"category": named}}}

    with pytest.raises(
        AgentFailed, match=r"offline\.fail\.category .* use one of auth,"
    ) as failure:
        OfflineAgent().run("a prompt", an_assignment(input=script))

    assert failure.value.category is FailureCategory.VALIDATION


def test_a_scripted_failure_passes_after_its_calls_within_an_attempt() -> None:
    fail = {"category": "rate-limit", "calls": 2, "retryAfterMs": 50, "usage": {"inputTokens": 0}}
    agent = OfflineAgent()

    for _ in range(2):
        with pytest.raises(AgentFailed) as failure:
            agent.run("a prompt", an_assignment(input={"offline": {"fail": fail}}))
        assert failure.value.retry_after_ms == 50
        assert failure.value.effort.free

    assert agent.run("a prompt", an_assignment(input={"offline": {"fail": fail}}))


def test_a_scripted_failure_is_paid_for_unless_the_script_says_no() -> None:
    script = {"offline": {"fail": {"category": "network"}}}

    with pytest.raises(AgentFailed) as failure:
        OfflineAgent().run("a prompt", an_assignment(input=script))

    assert not failure.value.effort.free


def test_a_script_can_make_the_output_large() -> None:
    answer = OfflineAgent().run("", an_assignment(input={"offline": {"outputBytes": 5_000_000}}))

    assert len(answer.output["padding"]) == 5_000_000


def test_a_script_can_tell_tool_calls_and_cached_tokens() -> None:
    calls = [{"name": "Read", "durationMs": 7, "input": {"path": "a"}, "output": "text"}, "no call"]
    usage = {"inputTokens": 10, "cacheReadTokens": 80, "cacheCreationTokens": 10}
    script = {"offline": {"toolCalls": calls, "usage": usage, "turns": 3}}

    effort = OfflineAgent().run("", an_assignment(input=script)).effort

    [call] = effort.trace.tool_calls
    assert (call.name, call.duration_ms, call.input) == ("Read", 7, '{"path": "a"}')
    assert (effort.turns, effort.cache_creation_tokens) == (3, 10)
    assert effort.trace.cache.efficiency_percent == 80


@pytest.mark.parametrize("script", ["no script", {"fail": "no failure"}, {"usage": 7}, []])
def test_what_is_no_script_is_ignored(script: Any) -> None:
    assert OfflineAgent().run("", an_assignment(input={"offline": script})).output


def an_assignment(**facts: Any) -> Assignment:
    known: dict[str, Any] = {
        "request_id": "r",
        "attempt": 1,
        "backend": "offline",
        "model": "m",
        "tag": "t",
        "description": "Do it.",
        "max_turns": 1,
        "timeout_ms": 1000,
    }
    return Assignment(**known | facts)
