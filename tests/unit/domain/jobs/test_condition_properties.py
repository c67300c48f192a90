"""Whatever is written or compared: conditions are read, and judged as a naive evaluator does."""

import json
from typing import Any, Final

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from switchyard.domain.errors import InvalidCondition
from switchyard.domain.jobs.condition_parser import parse_condition
from switchyard.domain.jobs.condition_reasons import MAX_REASON
from switchyard.domain.jobs.conditions import (
    ORDERING,
    AllOf,
    AnyOf,
    CannotBeJudged,
    Comparison,
    DoesNotHold,
    Exists,
    Expression,
    Holds,
    Literal,
    Not,
    Operator,
    evaluate,
)
from switchyard.domain.prompts.references import Reference, references_in

NAMES: Final = ("x", "y", "list", "a name")
PIECES: Final = (
    "${tasks.a.output}", "${tasks.a.output.x}", '${tasks.b.output["a name"][0]}', "${", "$", "}",
    "==", "!=", "<", "<=", ">", "=", "!", "&&", "in", "not", "and", "or", "exists", "(", ")", "[",
    "]", ",", "'", '"', "\\", "\\u12", "true", "null", "True", "high", "1", "-1.5e3", "007", "\n",
    " ", "\u00a0", "\u201c", "\x00", "\ud800",
)  # fmt: skip

numbers = st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5, -2.0, 10**30])
plain = st.none() | st.booleans() | numbers | st.sampled_from(["", "a", "ab", "b", "it's", '"\\\n'])
outputs_of = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)
lists = st.lists(plain, max_size=3).map(tuple)
references = st.builds(
    lambda task, rest: references_in(f"${{tasks.{task}.output{rest}}}")[0],
    st.sampled_from("abc"),
    st.sampled_from(["", ".x", ".y.x", ".list", ".list[0]", '["a name"]', "[1]"]),
)


def comparisons() -> st.SearchStrategy[Expression]:
    operands = references | st.builds(Literal, plain | lists)
    ordered = references | st.builds(Literal, numbers | st.sampled_from(["", "a", "b"]))
    wholes = references | st.builds(Literal, lists | st.sampled_from(["", "ab"]))
    equality = st.sampled_from([Operator.EQUAL, Operator.NOT_EQUAL])
    containing = st.sampled_from([Operator.IN, Operator.NOT_IN])
    return (
        st.builds(Comparison, operands, equality, operands)
        | st.builds(Comparison, ordered, st.sampled_from(sorted(ORDERING)), ordered)
        | st.builds(Comparison, operands, containing, wholes)
    )


expressions: st.SearchStrategy[Expression] = st.recursive(
    references | st.builds(Literal, st.booleans()) | st.builds(Exists, references) | comparisons(),
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(AllOf, st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=8,
)


def printed(expression: Expression, blank: str = " ") -> str:
    """Write an expression with parentheses around every part."""
    match expression:
        case Reference():
            return expression.text
        case Literal(value):
            return json.dumps(value)
        case Comparison(left, sign, right):
            return blank.join([printed(left), sign, printed(right)])
        case Exists(reference):
            return f"exists{blank}{reference.text}"
        case Not(inner):
            return f"not({printed(inner, blank)})"
        case AllOf(parts):
            return f"{blank}and{blank}".join(f"({printed(part, blank)})" for part in parts)
    return f"{blank}or{blank}".join(f"({printed(part, blank)})" for part in expression.parts)


class Unknown(Exception):
    pass


def naive(expression: Expression, outputs: dict[str, Any]) -> Any:
    """Evaluate with Python's own operators on values that are made comparable first."""
    match expression:
        case Literal(value):
            return json.loads(json.dumps(value))
        case Reference(task_id=task_id, steps=steps):
            return followed(outputs, task_id, *steps)
        case Exists(reference):
            try:
                naive(reference, outputs)
            except Unknown:
                return False
            return True
        case Not(inner):
            return not naive_truth(inner, outputs)
        case AllOf(parts):
            return all(naive_truth(part, outputs) for part in parts)
        case AnyOf(parts):
            return any(naive_truth(part, outputs) for part in parts)
    left, right = naive(expression.left, outputs), naive(expression.right, outputs)
    return naive_comparison(left, expression.operator, right)


def naive_truth(expression: Expression, outputs: dict[str, Any]) -> bool:
    value = naive(expression, outputs)
    if value is not True and value is not False:
        raise Unknown
    return value


def followed(value: Any, *steps: str | int) -> Any:
    for step in steps:
        anything: Any = value
        if type(value) is not (list if isinstance(step, int) else dict):
            raise Unknown
        try:
            value = anything[step]
        except LookupError:
            raise Unknown from None
    return value


def tagged(value: Any) -> Any:
    """Return a value that Python compares as JSON does."""
    match value:
        case bool():
            return ("bool", value)
        case list():
            return [tagged(inner) for inner in value]
        case dict():
            return {name: tagged(inner) for name, inner in value.items()}
    return value


def naive_comparison(left: Any, sign: Operator, right: Any) -> bool:
    if sign in (Operator.EQUAL, Operator.NOT_EQUAL):
        return (tagged(left) == tagged(right)) is (sign is Operator.EQUAL)
    if sign in (Operator.IN, Operator.NOT_IN):
        if isinstance(right, list):
            return (tagged(left) in tagged(right)) is (sign is Operator.IN)
        if isinstance(left, str) and isinstance(right, str):
            return (left in right) is (sign is Operator.IN)
        raise Unknown
    if isinstance(left, bool) or isinstance(right, bool):
        raise Unknown
    try:
        answers = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    except TypeError:
        raise Unknown from None
    if not isinstance(left, str | int | float):
        raise Unknown  # Python orders lists
    return bool(answers[sign])


def expected(expression: Expression, outputs: dict[str, Any]) -> type:
    try:
        return Holds if naive_truth(expression, outputs) else DoesNotHold
    except Unknown:
        return CannotBeJudged


def refusal_of(text: str) -> str | None:
    try:
        parse_condition(text)
    except InvalidCondition as refused:
        return str(refused)
    return None


in_pieces = st.lists(st.sampled_from(PIECES), max_size=40)


@settings(max_examples=300, deadline=None)
@given(text=st.text() | in_pieces.map(" ".join) | in_pieces.map("".join))
def test_any_text_is_a_condition_or_refused_in_our_words(text: str) -> None:
    refusal = refusal_of(text)
    if refusal is None:
        assert evaluate(parse_condition(text), {}).reason.isprintable()
    else:
        assert len(refusal) < 400


@settings(max_examples=100, deadline=None)
@given(expression=expressions, blank=st.sampled_from([" ", "\n", " \t "]))
def test_what_is_printed_is_read_as_the_same(expression: Expression, blank: str) -> None:
    text = printed(expression, blank)
    refusal = refusal_of(text)
    if refusal is None:
        assert repr(parse_condition(text).expression) == repr(expression)
    else:
        assert "a condition has at most 2,000" in refusal


@settings(max_examples=200, deadline=None)
@given(
    expression=expressions,
    outputs=st.dictionaries(st.sampled_from("ab"), outputs_of, max_size=2),
)
def test_evaluation_agrees_with_a_naive_one(
    expression: Expression, outputs: dict[str, Any]
) -> None:
    text = printed(expression)
    assume(refusal_of(text) is None)
    judgement = evaluate(parse_condition(text), outputs)
    assert type(judgement) is expected(expression, outputs)
    assert len(judgement.reason) <= MAX_REASON
    assert judgement.reason.isprintable()
