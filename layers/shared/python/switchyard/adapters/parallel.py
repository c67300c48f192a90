"""Runs the same call for several things, in threads or one by one."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

A = TypeVar("A")
B = TypeVar("B")

THREADS: Final = 8


class Threads:
    """Runs calls in threads: for calls that mostly wait for an answer from elsewhere."""

    def each(self, act: Callable[[A], B], things: Sequence[A]) -> list[B]:
        if len(things) < 2:
            return [act(thing) for thing in things]
        with ThreadPoolExecutor(min(THREADS, len(things))) as pool:
            return [answer.result() for answer in [pool.submit(act, thing) for thing in things]]


class OneByOne:
    """Runs calls one after the other: where threads gain nothing, or would race."""

    def each(self, act: Callable[[A], B], things: Sequence[A]) -> list[B]:
        answers: list[B] = []
        errors: list[Exception] = []
        for thing in things:
            try:
                answers.append(act(thing))
            except Exception as error:  # noqa: BLE001 - raised below, once all were tried
                errors.append(error)
        if errors:
            raise errors[0]
        return answers
