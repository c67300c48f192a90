"""Tasks are added while those that they follow settle, and with them perhaps the job."""

from collections.abc import Iterator

from switchyard.domain.states import Rule
from tests.simulation.asking import adding
from tests.simulation.functions import TIMEOUT_SECONDS
from tests.simulation.races.yard import ENDS, RaceYard
from tests.simulation.reference import Declared, ends

PARENTS = ("one", "other")
SECONDS = 3.0


class Newcomers:
    """Either all of them are in the job, and end as they must, or none is."""

    def __init__(self, seed: int) -> None:
        self.yard = RaceYard(seed, crashes=3)
        dice, rules = self.yard.dice, list(Rule)
        followed = tuple(dice.sample(PARENTS, dice.randint(1, 2)))
        self._tasks = [*map(Declared, PARENTS)]
        self._new = [
            Declared("new", followed, dice.choice(rules)),
            Declared("newer", ("new",), dice.choice(rules)),
            Declared("alone"),
        ][: dice.randint(1, 3)]
        ref = self.yard.write(self._tasks, held=PARENTS)
        for name in PARENTS:
            self.yard.endings[name, 1] = dice.choice(ENDS)
            self.yard.settle_soon(name, within=SECONDS)
        for _ in range(dice.randint(1, 2)):
            self.yard.call_soon(adding(ref, self._new), within=SECONDS)

    def run(self) -> list[str]:
        self.yard.run(at_least=SECONDS + TIMEOUT_SECONDS)
        states = self.yard.states()
        tasks = [task for task in [*self._tasks, *self._new] if task.task_id in states]
        expected = ends(tasks, verdicts=self.yard.verdicts())
        return [*self.yard.problems(expected), *self._half_added()]

    def _half_added(self) -> Iterator[str]:
        names = {task.task_id for task in self._new}
        there = names & self.yard.states().keys()
        if there not in (set(), names):
            yield f"only {sorted(there)} of {sorted(names)} were added"
        if self.yard.answered and not there:
            yield "it was said that they were added"
