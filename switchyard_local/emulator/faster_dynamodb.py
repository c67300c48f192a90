"""Lets MiniStack's DynamoDB answer with the same, and sooner.

By itself it parses a condition again for every item that it compares with it, and a query looks at
all items of its partition: a page of a job of thousands of tasks takes seconds, in which the one
process answers nobody. And it copies an item several times for each write of it, and everything for
a save, with `deepcopy`, though items are plain data.
"""

import copy
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final

from ministack.services import dynamodb

EXPRESSIONS: Final = 1_000
"""How many are remembered; our functions use a few dozen."""
UNCHANGEABLE: Final = frozenset({str, int, float, bool, bytes, type(None)})

Token = tuple[str, str]


def speed_up_dynamodb() -> None:
    """Let it parse each expression once, and copy plain data as such."""
    dynamodb._tokenize = _tokenizing_once(dynamodb._tokenize)
    dynamodb._condition_syntax_error = lru_cache(EXPRESSIONS)(dynamodb._condition_syntax_error)
    dynamodb.copy = SimpleNamespace(deepcopy=plain_copy)


def _tokenizing_once(tokenize: Callable[[str], list[Token]]) -> Callable[[str], list[Token]]:
    """Return a list of its own for each call: MiniStack may change it."""
    remembered = lru_cache(EXPRESSIONS)(lambda expression: tuple(tokenize(expression)))
    return lambda expression: list(remembered(expression))


def plain_copy(value: Any) -> Any:
    """Copy plain data; leave everything else to `deepcopy`."""
    kind = type(value)
    if kind in UNCHANGEABLE:
        return value
    if kind is dict:
        return {key: plain_copy(one) for key, one in value.items()}
    if kind is list:
        return [plain_copy(one) for one in value]
    if kind is defaultdict:
        copies = {key: plain_copy(one) for key, one in value.items()}
        return defaultdict(value.default_factory, copies)
    return copy.deepcopy(value)
