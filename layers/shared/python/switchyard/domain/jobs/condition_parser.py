"""Reads a condition. Its grammar, from what binds least to what binds most:

    condition   = both { "or" both }
    both        = single { "and" single }
    single      = "not" single | "(" condition ")" | exists | comparison
    exists      = "exists" reference | "exists" "(" reference ")"
    comparison  = operand [ operator operand ]
    operator    = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in"
    operand     = reference | text | number | "true" | "false" | "null" | list
    list        = "[" [ literal { "," literal } ] "]"

A comparison without an operator is a reference, `true` or `false`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from switchyard.domain.errors import InvalidCondition
from switchyard.domain.jobs.condition_tokens import (
    EXAMPLE,
    OWN_EXAMPLE,
    Kind,
    Token,
    mistake,
    tokens_of,
)
from switchyard.domain.jobs.conditions import (
    ORDERING,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Exists,
    Expression,
    Literal,
    Not,
    Operand,
    Operator,
)
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.prompts.references import Reference
from switchyard.domain.tasks.task import Json

MAX_CHARACTERS: Final = 2_000
MAX_NESTING: Final = 32
"""The most parentheses, brackets and `not` that may be open at once."""
MAX_REFERENCES: Final = 100

_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_KEYWORDS: Final = frozenset({*_CONSTANTS, "and", "or", "not", "in", "exists"})
_COMPARING: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not"})
_INSTEAD: Final = {
    "=": "==", "===": "==", "is": "==", "equals": "==", "!==": "!=", "<>": "!=", "=<": "<=",
    "=>": ">=", "&": "and", "&&": "and", "|": "or", "||": "or", "!": "not", "none": "null",
    "nil": "null", "undefined": "null", "contains": 'in: "x" in ${…}', "exist": "exists",
}  # fmt: skip
"""Operators of other languages, and what a condition has for each."""
_AFTER: Final = frozenset({"and", "or", ")", ""})
"""The tokens that may follow a comparison; the end has no text."""

_OTHER_QUOTES: Final = "`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_START: Final = "a reference, a value, exists, not or ("
_VALUE: Final = "a reference or a value"
_OPERATOR: Final = "a comparison (==, !=, <, <=, >, >=, in, not in)"


def parse_condition(text: str, *, own: bool = False) -> Condition:
    """Read a condition. Raise `InvalidCondition`, which names the place of the first mistake.

    With `own` it refers to `${output…}` and `${input…}` of the task itself; they are evaluated by
    these names.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidCondition(
            f"has {len(text):,} characters; a condition has at most {MAX_CHARACTERS:,}"
        )
    if not text.strip():
        example = OWN_EXAMPLE if own else EXAMPLE
        raise InvalidCondition(f'is empty; a condition looks like {example} == "high"')
    parser = _Parser(text, own=own)
    expression = parser.condition()
    return Condition(text, expression, tuple(parser.references))


def references_of_conditions(specs: Sequence[TaskSpec]) -> list[tuple[str, Reference]]:
    """Return what the conditions of these tasks refer to, with the tasks that have them.

    Raise `InvalidCondition` for one that was not parsed before.
    """
    return [
        (spec.task_id, replace(reference, path=("tasks", index, "when")))
        for index, spec in enumerate(specs)
        if spec.when is not None
        for reference in parse_condition(spec.when).references
    ]


class _Parser:
    """Reads one token after the other; its methods are the rules of the grammar."""

    def __init__(self, text: str, *, own: bool) -> None:
        self._text = text
        self._example = OWN_EXAMPLE if own else EXAMPLE
        self._tokens = tokens_of(text, own=own)
        self._next = next(self._tokens)
        self._open = 0
        self.references: list[Reference] = []

    def condition(self) -> Expression:
        expression = self._either()
        if self._next.kind is not Kind.END:
            raise self._mistake("and, or or the end", self._why_no_end())
        return expression

    def _either(self) -> Expression:
        parts = [self._both()]
        while self._took("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _both(self) -> Expression:
        parts = [self._single()]
        while self._took("and"):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _single(self) -> Expression:
        if self._next_is("not"):
            with self._deeper():
                return Not(self._single())
        if self._next_is("("):
            with self._deeper():
                inner = self._either()
                self._take(")", "and, or or )", self._why_no_end())
                return inner
        if self._took("exists"):
            return self._exists()
        return self._comparison()

    def _exists(self) -> Exists:
        closes = self._took("(")
        if self._next.kind is not Kind.REFERENCE:
            raise self._mistake(f"a reference like {self._example}")
        reference = self._reference()
        if closes:
            self._take(")", ")")
        return Exists(reference)

    def _comparison(self) -> Expression:
        first = self._next
        left = self._operand(_START)
        operator = self._operator()
        if operator is None:
            can_end = isinstance(left, Reference) or isinstance(left.value, bool)
            if not can_end or self._next.text not in _AFTER:
                raise self._mistake(f"{_OPERATOR}, and, or or the end" if can_end else _OPERATOR)
            return left
        second = self._next
        right = self._operand(_VALUE)
        if operator in ORDERING:
            for token, operand in ((first, left), (second, right)):
                self._check(token, operand, (str, int, float), "a number, a text or a reference")
        if operator in (Operator.IN, Operator.NOT_IN):
            self._check(second, right, (str, tuple), "a list, a text or a reference")
        return Comparison(left, operator, right)

    def _operator(self) -> Operator | None:
        if self._took("not"):
            self._take("in", "in after not")
            return Operator.NOT_IN
        if self._next.kind in (Kind.MARK, Kind.WORD) and self._next.text in _COMPARING:
            return Operator(self._advance().text)
        return None

    def _check(
        self, token: Token, operand: Operand, kinds: tuple[type, ...], expected: str
    ) -> None:
        """Refuse a value with which the comparison can never be judged."""
        if isinstance(operand, Reference):
            return
        if isinstance(operand.value, bool) or not isinstance(operand.value, kinds):
            raise mistake(self._text, token.start, token.text, expected)

    def _operand(self, expected: str) -> Operand:
        if self._next.kind is Kind.REFERENCE:
            return self._reference()
        return Literal(self._literal(expected))

    def _literal(self, expected: str) -> Json:
        if self._next.kind is Kind.VALUE:
            return self._advance().value
        if self._next.kind is Kind.WORD and self._next.text in _CONSTANTS:
            return _CONSTANTS[self._advance().text]
        if self._next_is("["):
            with self._deeper():
                return self._list()
        raise self._mistake(expected, _value_meant(self._next))

    def _list(self) -> Json:
        if self._took("]"):
            return ()
        items = [self._literal("a text, a number, true, false, null or ]")]
        while self._took(","):
            items.append(self._literal("a text, a number, true, false or null"))
        self._take("]", ", or ]")
        return tuple(items)

    def _reference(self) -> Reference:
        if len(self.references) == MAX_REFERENCES:
            raise self._mistake(f"at most {MAX_REFERENCES} references")
        reference = self._advance().value
        self.references.append(reference)
        return reference

    def _next_is(self, text: str) -> bool:
        return self._next.kind in (Kind.MARK, Kind.WORD) and self._next.text == text

    def _took(self, text: str) -> bool:
        if not self._next_is(text):
            return False
        self._advance()
        return True

    def _take(self, text: str, expected: str, hint: str = "") -> None:
        if not self._took(text):
            raise self._mistake(expected, hint)

    def _advance(self) -> Token:
        token = self._next
        self._next = next(self._tokens, token)
        return token

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """Take what opens a level, and count the level until it is read."""
        if self._open == MAX_NESTING:
            raise self._mistake(f"at most {MAX_NESTING} levels of parentheses, brackets and not")
        self._open += 1
        self._advance()
        yield
        self._open -= 1

    def _mistake(self, expected: str, hint: str = "") -> InvalidCondition:
        found = self._next.text or "the end"
        hint = hint or _hint(self._next, self._text)
        return mistake(self._text, self._next.start, found, expected, hint)

    def _why_no_end(self) -> str:
        if self._next.kind in (Kind.MARK, Kind.WORD) and self._next.text in _COMPARING:
            return "a comparison has one value on each side: write ${…} > 1 and ${…} < 9"
        return ""


def _value_meant(token: Token) -> str:
    """Return which value an unknown word probably stands for, or nothing."""
    small = token.text.lower()
    if token.kind is not Kind.WORD or small in _KEYWORDS or small in _INSTEAD:
        return ""
    if small.startswith("tasks."):
        return f"did you mean a reference, ${{{token.text}}}?"
    return f'did you mean the text "{token.text}"?'


def _hint(token: Token, text: str) -> str:
    """Return what the author probably meant, or nothing."""
    written, small = token.text, token.text.lower()
    if written in _KEYWORDS or token.kind not in (Kind.WORD, Kind.MARK):
        return ""
    if small in _KEYWORDS or small in _INSTEAD:
        return f"write {_INSTEAD.get(small, small)}"
    if text.startswith("$${", token.start):
        return f"write one $: {EXAMPLE}"
    if written in "${":
        return f"a reference is {EXAMPLE}"
    return "write straight quotes" if written in _OTHER_QUOTES else ""
