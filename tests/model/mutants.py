"""Plants one bug after the other and lets the model look for it, in small configurations."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from switchyard.domain.transition import Transition
from tests.model.configurations import Configuration
from tests.model.database import Mutation
from tests.model.explorer import Explorer
from tests.model.invisible import why_invisible
from tests.model.planted import (
    LeftOut,
    function_of,
    kind_of,
    parts_left_out,
    planted,
    rows,
)
from tests.model.small_configurations import SMALL

AT_MOST: Final = 60_000
"""States of each configuration; a bug that shows needs far fewer."""


@dataclass(frozen=True, slots=True)
class Bug:
    name: str
    mutation: Mutation
    planted: Callable[[], AbstractContextManager[None]] = nullcontext
    transition: str | None = None
    """The one that it changes; `None` if there are several."""


@dataclass(frozen=True, slots=True)
class Verdict:
    name: str
    seconds: float
    configuration: str = ""
    violation: str | None = None
    reason: str | None = None
    """Why the model cannot see it."""

    @property
    def missed(self) -> bool:
        return self.violation is None and self.reason is None


def try_all(only: str = "") -> Iterator[Verdict]:
    """Try each bug whose name contains a word, some at once."""
    names = [name for name in bugs() if only in name]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(try_out, names)


def try_out(name: str) -> Verdict:
    """Look for a bug in one configuration after the other."""
    began = time.monotonic()
    bug = bugs()[name]
    for configuration in SMALL:
        written = {one.transition for one in written_in()[configuration.name]}
        if bug.transition is None or bug.transition in written:
            with bug.planted():
                found = _explored(Explorer(configuration, bug.mutation))
            if found is not None:
                return Verdict(name, time.monotonic() - began, configuration.name, found)
    return Verdict(name, time.monotonic() - began, reason=why_invisible(name))


@cache
def bugs() -> dict[str, Bug]:
    """Every row of `make mutants` that is about what the model runs, and every guard left out."""
    listed = [
        Bug(row.guard, lambda one: one, partial(planted, row), function_of(row)) for row in rows()
    ]
    seen = dict.fromkeys(one for ones in written_in().values() for one in ones)
    guards = [Bug(one.name, one.mutation, transition=one.transition) for one in seen]
    return {bug.name: bug for bug in (*listed, *guards)}


@cache
def written_in() -> dict[str, dict[LeftOut, None]]:
    """What can be left out of the transitions that each small configuration writes."""
    return {configuration.name: _written_in(configuration) for configuration in SMALL}


def _written_in(configuration: Configuration) -> dict[LeftOut, None]:
    seen: dict[LeftOut, None] = {}

    def note(transition: Transition) -> Transition:
        for part, _ in parts_left_out(transition):
            seen[LeftOut(kind_of(transition), transition.name, part)] = None
        return transition

    Explorer(configuration, note).explore(at_most=5_000)
    return seen


def _explored(explorer: Explorer) -> str | None:
    """A bug that makes the model itself fail is caught by that."""
    try:
        return explorer.explore(at_most=AT_MOST).violation
    except (AssertionError, KeyError, TypeError) as error:
        return f"the model fails: {error!r}"
