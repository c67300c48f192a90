"""Bugs for the model to find: each guard left out, and each row of `make mutants`.

The rows are those of `tests/mutants/guards` whose file is one that the model runs. A row is planted
in the module's source, whose functions take the place of the module's while the model runs.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import isfunction
from typing import Final

from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.transition import AnyOf, Guard, Term, Transition, described
from tests.mutants.guards import MUTANTS
from tests.mutants.mutant import ROOT, Mutant

PACKAGE: Final = "layers/shared/python/"
RUN_BY_THE_MODEL: Final = (
    "switchyard/domain/tasks/transitions.py",
    "switchyard/domain/tasks/edge_transitions.py",
    "switchyard/domain/tasks/fan_out_transitions.py",
    "switchyard/domain/tasks/held_transitions.py",
    "switchyard/domain/tasks/ready_transitions.py",
    "switchyard/domain/jobs/transitions.py",
    "switchyard/domain/tasks/task.py",
    "switchyard/domain/tasks/readiness.py",
    "switchyard/domain/jobs/redrive.py",
    "switchyard/domain/redrives/reach.py",
    "switchyard/domain/jobs/overdue.py",
    "switchyard/domain/jobs/chunk_plan.py",
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of one transition that is not written or not asked for."""

    kind: str
    """The kind of the item, task or job; both have a `settle` and a `reopen`."""
    transition: str
    part: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.transition} without: {self.part}"

    def mutation(self, transition: Transition) -> Transition:
        if (kind_of(transition), transition.name) != (self.kind, self.transition):
            return transition
        return dict(parts_left_out(transition)).get(self.part, transition)


def kind_of(transition: Transition) -> str:
    """Tell the transitions of jobs from those of tasks; a postponement looks the same in both."""
    match transition.name:
        case "settle":
            return "task" if "outcome" in transition.sets else "job"
        case "reopen":
            return "task" if "fence" in transition.adds else "job"
        case "postpone":
            return "either"
        case name:
            return "job" if hasattr(of_jobs, name) else "task"


def parts_left_out(transition: Transition) -> Iterator[tuple[str, Transition]]:
    """Yield the transition without each of its conditions, and without what fences it."""
    for text, guard in _shorter(transition.guard):
        yield text, replace(transition, guard=guard)
    for name in ("fence", "attempt", "run"):
        if name in transition.adds:
            less = {key: value for key, value in transition.adds.items() if key != name}
            yield f"{name} counted", replace(transition, adds=less)


def _shorter(guard: Guard) -> Iterator[tuple[str, Guard]]:
    for place, term in enumerate(guard):
        yield _text(term), guard[:place] + guard[place + 1 :]
        if isinstance(term, AnyOf):
            for number, alternative in enumerate(term.alternatives):
                for text, less in _shorter(alternative):
                    others = list(term.alternatives)
                    others[number] = less
                    shorter = AnyOf(tuple(others))
                    yield text, (*guard[:place], shorter, *guard[place + 1 :])


def _text(term: Term) -> str:
    """The same text for any value: a mutant is about a field, and how that is compared."""
    values = {"PROCESSING", "READY", "QUEUED", "WAITING", "OPEN", "CANCELLING", "REDRIVING"}
    return described((term,), lambda value: str(value) if str(value) in values else "…")


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Put the functions of the mutated source in the place of the module's, wherever imported."""
    path = mutant.file.removeprefix(PACKAGE)
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    mutated = dict(vars(module))
    source = mutant.planted_in((ROOT / mutant.file).read_text())
    exec(compile(source, path, "exec"), mutated)
    bad = {id(old): (old, mutated[name]) for name, old in vars(module).items() if isfunction(old)}
    mutated |= {name: old for name, old in vars(module).items() if isinstance(old, type)}
    with _replaced(bad):
        yield


@contextmanager
def _replaced(values: Mapping[int, tuple[object, object]]) -> Iterator[None]:
    places = [
        (module, name, values[id(value)])
        for path, module in list(sys.modules.items())
        if path.startswith(("switchyard.domain", "tests.model"))
        for name, value in list(vars(module).items())
        if id(value) in values
    ]
    for module, name, (_, new) in places:
        setattr(module, name, new)
    try:
        yield
    finally:
        for module, name, (old, _) in places:
            setattr(module, name, old)


def rows() -> list[Mutant]:
    return [one for one in MUTANTS if one.file.removeprefix(PACKAGE) in RUN_BY_THE_MODEL]


def function_of(row: Mutant) -> str | None:
    """Name the transition that a row is about; `None` if it is about more than one."""
    if not row.file.endswith("transitions.py"):
        return None
    source = (ROOT / row.file).read_text()
    name = source[: source.index(row.old)].rpartition("\ndef ")[2].partition("(")[0]
    return None if name.startswith("_") or row.old.startswith("def ") else name
