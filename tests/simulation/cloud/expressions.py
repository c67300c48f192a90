"""DynamoDB's expressions, as far as our adapters speak them, over items in wire form."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Final

Value = dict[str, Any]
"""A value as on the wire: `{"S": "text"}`, `{"N": "5"}`, `{"SS": ["a"]}`."""
Item = dict[str, Value]
Names = Mapping[str, str]
Values = Mapping[str, Value]
Operand = Callable[[Item, Names, Values], Value | None]
Condition = Callable[[Item, Names, Values], bool]

_TOKEN: Final = re.compile(r"\s*(<=|>=|<>|[=<>(),]|[#:]?\w+)")
_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_NOT_IN_BRACKETS: Final = re.compile(r",(?![^(]*\))")
_CLAUSE: Final = re.compile(r"\b(SET|REMOVE|ADD|DELETE)\b")


def holds(expression: str | None, item: Item | None, names: Names, values: Values) -> bool:
    return expression is None or _parsed(expression)(item or {}, names, values)


def updated(expression: str, item: Item, names: Names, values: Values) -> Item:
    new = dict(item)
    parts = _CLAUSE.split(expression)[1:]
    for clause, actions in zip(parts[::2], parts[1::2], strict=True):
        for action in _NOT_IN_BRACKETS.split(actions):
            _APPLY[clause](new, action.split(), names, values)
    return new


def comparable(value: Value) -> Any:
    [(kind, content)] = value.items()
    match kind:
        case "N":
            return (kind, float(content))
        case "SS" | "NS":
            return (kind, frozenset(content))
    return (kind, content)


class _Parser:
    """condition: and OR and … / and: unit AND unit … / unit: (condition), function, comparison."""

    def __init__(self, expression: str) -> None:
        self._tokens = _TOKEN.findall(expression)
        self._at = 0

    def condition(self) -> Condition:
        return self._joined("OR", lambda: self._joined("AND", self._unit, all), any)

    def _joined(
        self, word: str, part: Callable[[], Condition], fold: Callable[[Any], bool]
    ) -> Condition:
        parts = [part()]
        while self._peek() == word:
            self._next()
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        return lambda item, names, values: fold(p(item, names, values) for p in parts)

    def _unit(self) -> Condition:
        if self._peek() == "(":
            self._next()
            inner = self.condition()
            self._next()
            return inner
        if self._peek() in _FUNCTIONS:
            return self._function()
        return self._comparison()

    def _function(self) -> Condition:
        function = _FUNCTIONS[self._next()]
        arguments = self._list()
        return lambda item, names, values: function(*[a(item, names, values) for a in arguments])

    def _comparison(self) -> Condition:
        left, sign = self._operand(), self._next()
        if sign == "IN":
            options = self._list()
            return lambda *given: any(_compared("=", left(*given), o(*given)) for o in options)
        if sign == "BETWEEN":
            low, _and, high = self._operand(), self._next(), self._operand()
            return lambda *given: (
                _compared(">=", left(*given), low(*given))
                and _compared("<=", left(*given), high(*given))
            )
        right = self._operand()
        return lambda *given: _compared(sign, left(*given), right(*given))

    def _list(self) -> list[Operand]:
        operands = []
        while self._next() != ")":
            operands.append(self._operand())
        return operands

    def _operand(self) -> Operand:
        token = self._next()
        if token == "size":
            [sized] = self._list()
            return lambda *given: _size(sized(*given))
        if token.startswith(":"):
            return lambda _item, _names, values: values[token]
        return lambda item, names, _values: item.get(names.get(token, token))

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> str:
        self._at += 1
        token: str = self._tokens[self._at - 1]
        return token


@cache
def _parsed(expression: str) -> Condition:
    return _Parser(expression).condition()


def _compared(sign: str, left: Value | None, right: Value | None) -> bool:
    """What is absent compares with nothing; values of two types are never in order."""
    if left is None or right is None:
        return sign == "<>"
    a, b = comparable(left), comparable(right)
    return _COMPARE[sign](a, b) if a[0] == b[0] else sign == "<>"


def _size(value: Value | None) -> Value | None:
    return {"N": str(len(next(iter(value.values()))))} if value else None


def _contains(where: Value | None, what: Value | None) -> bool:
    if where is None or what is None:
        return False
    content = next(iter(where.values()))
    return next(iter(what.values())) in content


_FUNCTIONS: Final[Mapping[str, Callable[..., bool]]] = {
    "attribute_exists": lambda value: value is not None,
    "attribute_not_exists": lambda value: value is None,
    "contains": _contains,
    "begins_with": lambda value, prefix: value is not None and value["S"].startswith(prefix["S"]),
}


def _set(item: Item, words: list[str], names: Names, values: Values) -> None:
    name, _equals, *value = words
    key = names.get(name, name)
    if len(value) == 1:
        item[key] = values[value[0]]
        return
    function, new = value
    assert function == f"list_append({name},", f"{function} is not spoken here"
    item[key] = {"L": [*item[key]["L"], *values[new.removesuffix(")")]["L"]]}


def _remove(item: Item, words: list[str], names: Names, _values: Values) -> None:
    item.pop(names.get(words[0], words[0]), None)


def _add(item: Item, words: list[str], names: Names, values: Values) -> None:
    name, value = names.get(words[0], words[0]), values[words[1]]
    old = item.get(name)
    if "N" in value:
        item[name] = {"N": str(Decimal(old["N"] if old else 0) + Decimal(value["N"]))}
    else:
        item[name] = {"SS": sorted({*(old["SS"] if old else ()), *value["SS"]})}


def _delete(item: Item, words: list[str], names: Names, values: Values) -> None:
    """A set that is empty disappears."""
    name = names.get(words[0], words[0])
    left = set(item.get(name, {"SS": []})["SS"]) - set(values[words[1]]["SS"])
    if left:
        item[name] = {"SS": sorted(left)}
    else:
        item.pop(name, None)


_APPLY: Final[Mapping[str, Callable[[Item, list[str], Names, Values], None]]] = {
    "SET": _set,
    "REMOVE": _remove,
    "ADD": _add,
    "DELETE": _delete,
}
