"""Lets MiniStack parse each DynamoDB expression once.

By itself it parses a condition again for every item that it compares with it. A query looks at all
items of its partition, so that a job of thousands of tasks takes seconds for each page, in which
the one process answers nobody.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ministack.services import dynamodb

EXPRESSIONS: Final = 1_000
"""How many are remembered; what our functions ask for is a few dozen."""

Token = tuple[str, str]


def remember_parsed_expressions() -> None:
    dynamodb._tokenize = _tokenizing_once(dynamodb._tokenize)
    dynamodb._condition_syntax_error = lru_cache(EXPRESSIONS)(dynamodb._condition_syntax_error)


def _tokenizing_once(tokenize: Callable[[str], list[Token]]) -> Callable[[str], list[Token]]:
    """Return a list of its own for each call: MiniStack may change it."""
    remembered = lru_cache(EXPRESSIONS)(lambda expression: tuple(tokenize(expression)))
    return lambda expression: list(remembered(expression))
