"""How a condition is written, and what its author reads about a mistake."""

import pytest

from switchyard.domain.errors import InvalidCondition, Rejected
from switchyard.domain.jobs.condition_parser import (
    MAX_CHARACTERS,
    MAX_NESTING,
    MAX_REFERENCES,
    parse_condition,
)
from switchyard.domain.jobs.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Exists,
    Expression,
    Literal,
    Not,
    Operator,
)
from switchyard.domain.prompts.references import references_in

A, B, C = "${tasks.a.output}", "${tasks.b.output.x}", '${tasks.c.output["a name"][0].z}'
(a,), (b,), (c,) = map(references_in, (A, B, C))
START = "a reference, a value, exists, not or ("
VALUE = "a reference or a value"
OPERATOR = "a comparison (==, !=, <, <=, >, >=, in, not in)"
AFTER = "and, or or the end"
TWO_SIDES = "a comparison has one value on each side: write ${…} > 1 and ${…} < 9"


def equal(left: object, right: object) -> Comparison:
    return Comparison(Literal(left), Operator.EQUAL, Literal(right))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (A, a),
        ("true", Literal(True)),
        (f"{C} == 'x'", Comparison(c, Operator.EQUAL, Literal("x"))),
        (f"{A}!={B}", Comparison(a, Operator.NOT_EQUAL, b)),
        (f"1<={A}", Comparison(Literal(1), Operator.AT_MOST, a)),
        (f"{A} < -1.5e3", Comparison(a, Operator.LESS, Literal(-1500.0))),
        (f"{A} in ['x', 2]", Comparison(a, Operator.IN, Literal(("x", 2)))),
        (f"{A} not\n\tin {B}", Comparison(a, Operator.NOT_IN, b)),
        (f"exists {A}", Exists(a)),
        (f"exists({A})", Exists(a)),
        (f"exists ( {A} )", Exists(a)),
        (f"not exists {A}", Not(Exists(a))),
        ("not 1 == 1", Not(equal(1, 1))),
        (f"{A} or {B} and {C}", AnyOf((a, AllOf((b, c))))),
        (f"({A} or {B}) and {C}", AllOf((AnyOf((a, b)), c))),
        (f"{A} or {B} or {C}", AnyOf((a, b, c))),
        (f"not {A} and {B}", AllOf((Not(a), b))),
        (f"not ({A} and {B})", Not(AllOf((a, b)))),
        (f"(((({A}))))", a),
        (f"  \r\n{A}\n", a),
        (f'{A}in"xyz"', Comparison(a, Operator.IN, Literal("xyz"))),
    ],
)
def test_not_binds_before_and_before_or(text: str, expected: Expression) -> None:
    assert repr(parse_condition(text).expression) == repr(expected)  # True is not 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('""', ""),
        ("''", ""),
        ('"it\'s"', "it's"),
        ("'say \"hi\"'", 'say "hi"'),
        (r"'it\'s'", "it's"),
        (r'"a\"b\\c\/d\n\t\u00fc\ud83d\ude00"', 'a"b\\c/d\n\tü😀'),
        ('"ü 😀 and or ( == ${HOME}"', "ü 😀 and or ( == ${HOME}"),
        (r'"\u0024{tasks.a.output}"', "${tasks.a.output}"),
        ("0", 0),
        ("-0.5", -0.5),
        ("1E2", 100.0),
        ("12345678901234567890", 12345678901234567890),
        ("9" * 1_000, 10**1_000 - 1),
        ("null", None),
        ("false", False),
        ("[]", ()),
        ("[ 1 , 'a',null,[true]]", (1, "a", None, (True,))),
    ],
)
def test_literals_are_those_of_json_with_either_quote(text: str, expected: object) -> None:
    assert repr(parse_condition(f"{text} == 1").expression) == repr(equal(expected, 1))


def test_a_condition_knows_its_text_and_what_it_refers_to() -> None:
    text = f"{A} == {B} or exists {A}"
    condition = parse_condition(text)
    assert condition.text == text
    assert condition.references == (a, b, a)
    assert condition.task_ids == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{A} = 1", f"column 19: found =, expected {OPERATOR}, {AFTER}; write =="),
        (f"{A} === 1", f"column 19: found ===, expected {OPERATOR}, {AFTER}; write =="),
        (f"{A} && {B}", f"column 19: found &&, expected {OPERATOR}, {AFTER}; write and"),
        (f"{A} == 1 || {B}", f"column 24: found ||, expected {AFTER}; write or"),
        (f"{A} == 1 AND {B}", f"column 24: found AND, expected {AFTER}; write and"),
        (f"!{A}", f"column 1: found !, expected {START}; write not"),
        (f"{A} == True", f"column 22: found True, expected {VALUE}; write true"),
        (f"{A} == None", f"column 22: found None, expected {VALUE}; write null"),
        (f"{A} == high", f'column 22: found high, expected {VALUE}; did you mean the text "high"?'),
        (f'{A} == "high', 'column 22: found "high, expected a text with a closing "'),
        (f"{A} == 'high\"", "column 22: found 'high\", expected a text with a closing '"),
        (
            "tasks.a.output > 1",
            f"column 1: found tasks.a.output, expected {START}; "
            "did you mean a reference, ${tasks.a.output}?",
        ),
        (
            "$tasks.a.output > 1",
            f"column 1: found $, expected {START}; a reference is ${{tasks.ID.output.name[0]}}",
        ),
        (
            f"${A} > 1",
            f"column 1: found $, expected {START}; write one $: ${{tasks.ID.output.name[0]}}",
        ),
        (
            "${a.x} > 1",
            "column 1: found ${a.x}, expected a reference like ${tasks.ID.output.name[0]}",
        ),
        (
            "1 < ${tasks.a.outptu}",
            "column 5: found ${tasks.a.outptu}, "
            "expected a reference like ${tasks.ID.output.name[0]}",
        ),
        (
            "1 < ${tasks.a.output",
            "column 5: found ${tasks.a.output, expected a reference like "
            "${tasks.ID.output.name[0]}; a reference ends with }",
        ),
        (
            f"'{A}' == 'x'",
            f"column 1: found '{A}', expected a reference without quotes; "
            "within quotes it would be plain text; write \\u0024 for a $ as it is",
        ),
        (f"1 < {A} < 3", f"column 23: found <, expected {AFTER}; {TWO_SIDES}"),
        (f"({A}) == 1", f"column 21: found ==, expected {AFTER}; {TWO_SIDES}"),
        (f"({A} == 1", "column 24: found the end, expected and, or or )"),
        (f"{A} == 1)", f"column 23: found ), expected {AFTER}"),
        ("'x'", f"column 4: found the end, expected {OPERATOR}"),
        (f"{A} and", f"column 22: found the end, expected {START}"),
        (f"{A} not {B}", "column 23: found ${tasks.b.output.x}, expected in after not"),
        (f"{A} in 5", "column 22: found 5, expected a list, a text or a reference"),
        (f"{A} < null", "column 21: found null, expected a number, a text or a reference"),
        (f"[1] < {A}", "column 1: found [, expected a number, a text or a reference"),
        (
            f"{A} contains 1",
            f"column 19: found contains, expected {OPERATOR}, {AFTER}; "
            'write in: "x" in ${…}',
        ),
        ("exists 'x'", "column 8: found 'x', expected a reference like ${tasks.ID.output.name[0]}"),
        (f"exists({A}", "column 25: found the end, expected )"),
        (f"{A} in [1,]", "column 25: found ], expected a text, a number, true, false or null"),
        (f"{A} in [1 2]", "column 25: found 2, expected , or ]"),
        (f"[{A}] == 1", f"column 2: found {A}, expected a text, a number, true, false, null or ]"),
        (f"{A} == 007", 'column 22: found 007, expected a number as in JSON; or the text "007"'),
        (f"{A} == 1e999", "column 22: found 1e999, expected a number up to 1.7e308"),
        (
            f"{A} == 'a\\x'",
            "column 24: found \\x, expected an escape of JSON such as \\n or \\\"; "
            "a backslash itself is \\\\",
        ),
        (f"{A} == “x”", f"column 22: found “, expected {VALUE}; write straight quotes"),
        (f"{A}\u00a0== 1", f"column 18: found U+00A0, expected {OPERATOR}, {AFTER}"),
        (f"{A} ==\n {B} = 3", f"line 2, column 22: found =, expected {AFTER}; write =="),
        (
            f"{A} == 'a\nb'",
            "line 1, column 22: found 'a, expected a text with a closing '; "
            "a line break in a text is \\n, a tab \\t",
        ),
        (" ", 'is empty; a condition looks like ${tasks.ID.output.name[0]} == "high"'),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place_and_a_hint(text: str, message: str) -> None:
    with pytest.raises(InvalidCondition) as refused:
        parse_condition(text)
    assert str(refused.value) == message
    assert isinstance(refused.value, Rejected)


@pytest.mark.parametrize("repeated", ["x", "1x", "=", "'", "tasks.", "\u200b"])
def test_what_is_found_is_shortened(repeated: str) -> None:
    with pytest.raises(InvalidCondition) as refused:
        parse_condition(repeated * (MAX_CHARACTERS // len(repeated)))
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("opening", "inside", "closing"),
    [("(", "true", ")"), ("not ", "true", ""), ("[", "1", "]"), ("not (", "true", ")")],
)
def test_nesting_has_a_limit(opening: str, inside: str, closing: str) -> None:
    end = " == 1" if opening == "[" else ""
    times = MAX_NESTING // 2 if opening == "not (" else MAX_NESTING
    parse_condition(opening * times + inside + closing * times + end)
    with pytest.raises(InvalidCondition, match="at most 32 levels"):
        parse_condition(opening * (times + 1) + inside + closing * (times + 1) + end)


def test_long_texts_and_many_references_are_refused() -> None:
    parse_condition("true".ljust(MAX_CHARACTERS))
    with pytest.raises(InvalidCondition, match=r"has 2,001 characters; .* at most 2,000"):
        parse_condition("true".ljust(MAX_CHARACTERS + 1))
    pairs = [f"{A}<{A}"] * (MAX_REFERENCES // 2)
    parse_condition("or ".join(pairs))
    with pytest.raises(InvalidCondition, match="expected at most 100 references"):
        parse_condition("or ".join([*pairs, A]))
