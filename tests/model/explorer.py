"""Goes through all states of a configuration, the nearest first, until a promise is broken."""

import itertools
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.model.configurations import Configuration
from tests.model.database import Mutation
from tests.model.world import State, World

SECONDS_BETWEEN_REPORTS: Final = 1.5


@dataclass(frozen=True, slots=True)
class Report:
    configuration: Configuration
    states: int
    transitions: int
    depth: int
    databases: int
    complete: bool
    """Whether every reachable state was seen."""
    seconds: float
    violation: str | None = None
    trace: tuple[str, ...] = ()


Progress = Callable[[Report], None]


class Explorer:
    def __init__(self, configuration: Configuration, mutate: Mutation = lambda one: one) -> None:
        self._configuration = configuration
        self._world = World(configuration, mutate)
        self._seen: dict[State, int] = {self._world.first: 0}
        self._parents = array("l", [-1])
        self._transitions = 0
        self._depth = 0
        self._began = time.monotonic()
        self._reported = self._began

    def explore(self, *, at_most: int | None = None, progress: Progress = lambda _: None) -> Report:
        """See every state, or `at_most` so many."""
        frontier = [self._world.first]
        violation = self._world.problem_of(self._world.first[0])
        if violation:
            return self._report(complete=False, violation=violation)
        while frontier:
            self._depth += 1
            following: list[State] = []
            for state in frontier:
                broken = self._expand(state, following)
                if broken:
                    return self._violated(state, broken)
                if len(self._seen) % 64 == 0 and self._is_time_to_report():
                    progress(self._report(complete=False))
                if at_most is not None and len(self._seen) >= at_most:
                    return self._report(complete=False)
            frontier = following
        return self._report(complete=True)

    def _expand(self, state: State, following: list[State]) -> str | None:
        seen, parents = self._seen, self._parents
        number = seen[state]
        for successor, problem in self._successors(state):
            self._transitions += 1
            if problem is not None:
                return problem
            if successor not in seen:
                seen[successor] = len(seen)
                parents.append(number)
                following.append(successor)
        return None

    def _successors(self, state: State) -> Iterator[tuple[State, str | None]]:
        """What any one process can do next; of processes that are alike one is looked at."""
        database, workers, functions = self._world.split(state)
        last = -1
        for place, worker in enumerate(workers):
            if worker != last:
                last = worker
                others = workers[:place] + workers[place + 1 :]
                for after, process, problem in self._world.moves_of_worker(database, worker):
                    yield (after, *sorted((*others, process)), *functions), problem
        last = -1
        for place, function in enumerate(functions):
            if function != last:
                last = function
                others = functions[:place] + functions[place + 1 :]
                for after, process, problem in self._world.moves_of_function(database, function):
                    yield (after, *workers, *sorted((*others, process))), problem

    def _is_time_to_report(self) -> bool:
        now = time.monotonic()
        if now < self._reported + SECONDS_BETWEEN_REPORTS:
            return False
        self._reported = now
        return True

    def _report(self, *, complete: bool, violation: str | None = None) -> Report:
        return Report(
            configuration=self._configuration,
            states=len(self._seen),
            transitions=self._transitions,
            depth=self._depth,
            databases=self._world.databases,
            complete=complete,
            seconds=time.monotonic() - self._began,
            violation=violation,
        )

    def _violated(self, state: State, problem: str) -> Report:
        """Tell the shortest way there, by taking its steps again."""
        path = [state]
        by_number = {number: seen for seen, number in self._seen.items()}
        while (parent := self._parents[self._seen[path[0]]]) >= 0:
            path.insert(0, by_number[parent])
        lines = [self._emitted(before, after) for before, after in itertools.pairwise(path)]
        lines.append(self._emitted(state, None, problem))
        report = self._report(complete=False, violation=problem)
        return replace(report, trace=tuple(f"{n}. {text}" for n, text in enumerate(lines, 1)))

    def _emitted(self, before: State, after: State | None, problem: str | None = None) -> str:
        """Find the step between two states, or the one that breaks a promise."""
        for emitted, successor, broken in self._world.told_steps(before):
            if successor == after or (after is None and broken == problem):
                return emitted
        return "an unknown step"
