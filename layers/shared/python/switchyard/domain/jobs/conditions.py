"""Conditions of tasks, such as `${tasks.triage.output.severity} == "high"`: do they hold?

A condition is read by `condition_parser`, when its job is accepted. It is evaluated when the task's
parents have settled, with the outputs of those that completed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from switchyard.domain.jobs.condition_reasons import Seen, reason, shortened
from switchyard.domain.json_values import kind_of
from switchyard.domain.prompts.references import Reference, UnresolvedReference, value_of
from switchyard.domain.tasks.task import Json

MAX_COMPARED: Final = 500_000
"""The most that one evaluation compares: each value counts, and each hundred characters of a text.
An output has at most 100,000 values; without a limit, a condition could compare them fifty
times."""


class Operator(StrEnum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    IN = "in"
    NOT_IN = "not in"


ORDERING: Final = frozenset({Operator.LESS, Operator.AT_MOST, Operator.MORE, Operator.AT_LEAST})


@dataclass(frozen=True, slots=True)
class Literal:
    value: Json


Operand = Reference | Literal


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Operand
    operator: Operator
    right: Operand


@dataclass(frozen=True, slots=True)
class Exists:
    reference: Reference


@dataclass(frozen=True, slots=True)
class Not:
    inner: "Expression"


@dataclass(frozen=True, slots=True)
class AllOf:
    """Expressions with `and` between them."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Expressions with `or` between them."""

    parts: tuple["Expression", ...]


Expression = Reference | Literal | Comparison | Exists | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Condition:
    text: str
    """The condition as its author wrote it."""
    expression: Expression
    references: tuple[Reference, ...]
    """The references in the order of the text."""

    @property
    def task_ids(self) -> frozenset[str]:
        """The tasks whose outputs the condition looks at."""
        return frozenset(reference.task_id for reference in self.references)


@dataclass(frozen=True, slots=True)
class Holds:
    reason: str


@dataclass(frozen=True, slots=True)
class DoesNotHold:
    reason: str


@dataclass(frozen=True, slots=True)
class CannotBeJudged:
    """A value is absent, or of a kind that the condition cannot use."""

    reason: str


Judgement = Holds | DoesNotHold | CannotBeJudged


def evaluate(condition: Condition, outputs: Mapping[str, Json]) -> Judgement:
    """Judge the condition by the outputs of the tasks that completed; others have no value.

    `and` and `or` evaluate from left to right, and only as far as necessary.
    """
    evaluation = _Evaluation(outputs)
    try:
        held = evaluation.holds(condition.expression)
    except _Unusable as problem:
        text = reason(condition.text, "cannot be judged", evaluation.seen, cause=str(problem))
        return CannotBeJudged(text)
    if held:
        return Holds(reason(condition.text, "holds", evaluation.seen))
    return DoesNotHold(reason(condition.text, "does not hold", evaluation.seen))


class _Unusable(ValueError):
    """Says why a value cannot be used as the condition uses it."""


@dataclass
class _Evaluation:
    outputs: Mapping[str, Json]
    seen: Seen = field(default_factory=Seen)
    compared: int = 0

    def holds(self, expression: Expression) -> bool:
        """Evaluate an expression. Its depth has the parser's limit. Raise `_Unusable`."""
        match expression:
            case AllOf(parts):
                return all(map(self.holds, parts))
            case AnyOf(parts):
                return any(map(self.holds, parts))
            case Not(inner):
                return not self.holds(inner)
            case Exists(reference):
                return self._exists(reference)
            case Comparison(left, operator, right):
                return self._compare(self._value(left), operator, self._value(right))
        return self._true_or_false(self._value(expression))

    def _value(self, operand: Operand) -> Json:
        if isinstance(operand, Literal):
            return operand.value
        try:
            value = value_of(operand, self.outputs)
        except UnresolvedReference as error:
            lack = str(error).removeprefix(operand.text)
            raise _Unusable(f"{shortened(operand.text)}{lack}; ask exists first") from error
        self.seen.add(operand, value)
        return value

    def _exists(self, reference: Reference) -> bool:
        try:
            self.seen.add(reference, value_of(reference, self.outputs))
        except UnresolvedReference:
            self.seen.add_absent(reference)
            return False
        return True

    def _true_or_false(self, value: Json) -> bool:
        if not isinstance(value, bool):
            raise _Unusable(f"a condition is true or false, not {kind_of(value)}")
        return value

    def _compare(self, left: Json, operator: Operator, right: Json) -> bool:
        match operator:
            case Operator.EQUAL:
                return self._equal(left, right)
            case Operator.NOT_EQUAL:
                return not self._equal(left, right)
            case Operator.IN:
                return self._contained(left, right)
            case Operator.NOT_IN:
                return not self._contained(left, right)
        return self._ordered(left, operator, right)

    def _ordered(self, left: Json, operator: Operator, right: Json) -> bool:
        kinds = {kind_of(left), kind_of(right)}
        if kinds not in ({"a text"}, {"a number"}):
            raise _Unusable(f"{kind_of(left)} and {kind_of(right)} have no order")
        self._count(1)
        match operator:
            case Operator.LESS:
                return bool(left < right)
            case Operator.AT_MOST:
                return bool(left <= right)
            case Operator.MORE:
                return bool(left > right)
        return bool(left >= right)

    def _contained(self, wanted: Json, whole: Json) -> bool:
        """Look for a value in a list, or for a text in a text."""
        if isinstance(whole, list | tuple):
            return any(self._equal(wanted, item) for item in whole)
        if isinstance(wanted, str) and isinstance(whole, str):
            self._count(1 + len(whole) // 100)
            return wanted in whole
        raise _Unusable(f"{kind_of(wanted)} cannot be in {kind_of(whole)}")

    def _equal(self, one: Json, other: Json) -> bool:
        """Compare as JSON does: true is not 1, and 1 is 1.0. No value is too deep for it."""
        self._count(1)
        waiting = [(one, other)]
        while waiting:
            left, right = waiting.pop()
            if type(left) is not type(right) and kind_of(left) != kind_of(right):
                return False
            if isinstance(left, dict | list | tuple):
                inner = _pairs(left, right)
                if inner is None:
                    return False
                self._count(len(inner))
                waiting += inner
            elif left != right:
                return False
            elif isinstance(left, str):
                self._count(len(left) // 100)
        return True

    def _count(self, values: int) -> None:
        self.compared += values
        if self.compared > MAX_COMPARED:
            raise _Unusable(f"it compares more than {MAX_COMPARED:,} values")


def _pairs(left: Json, right: Json) -> list[tuple[Json, Json]] | None:
    """Pair what is inside two objects or two lists, or return `None` if their shapes differ."""
    if isinstance(left, dict):
        same = left.keys() == right.keys()
        return [(inner, right[name]) for name, inner in left.items()] if same else None
    return list(zip(left, right, strict=True)) if len(left) == len(right) else None
