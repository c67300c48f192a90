"""Tasks are added while those that they follow settle, and with them perhaps the job."""

from collections.abc import Iterator

from switchyard.domain.states import Rule
from tests.simulation.asking import adding
from tests.simulation.races.harness import ENDS, RaceHarness
from tests.simulation.reference import Declared, ends
from tests.simulation.stage.functions import TIMEOUT_SECONDS

PARENTS = ("one", "other")
SECONDS = 3.0


class Newcomers:
    """Either all of them are in the job, and end as they must, or none is."""

    def __init__(self, seed: int) -> None:
        self.harness = RaceHarness(seed, crashes=3)
        dice, rules = self.harness.dice, list(Rule)
        followed = tuple(dice.sample(PARENTS, dice.randint(1, 2)))
        self._tasks = [*map(Declared, PARENTS)]
        self._new = [
            Declared("new", followed, dice.choice(rules)),
            Declared("newer", ("new",), dice.choice(rules)),
            Declared("alone"),
        ][: dice.randint(1, 3)]
        ref = self.harness.write(self._tasks, held=PARENTS)
        for name in PARENTS:
            self.harness.endings[name, 1] = dice.choice(ENDS)
            self.harness.settle_soon(name, within=SECONDS)
        for _ in range(dice.randint(1, 2)):
            self.harness.call_soon(adding(ref, self._new), within=SECONDS)

    def run(self) -> list[str]:
        self.harness.run(at_least=SECONDS + TIMEOUT_SECONDS)
        states = self.harness.states()
        tasks = [task for task in [*self._tasks, *self._new] if task.task_id in states]
        expected = ends(tasks, verdicts=self.harness.verdicts())
        return [*self.harness.problems(expected), *self._half_added()]

    def _half_added(self) -> Iterator[str]:
        names = {task.task_id for task in self._new}
        there = names & self.harness.states().keys()
        if there not in (set(), names):
            yield f"only {sorted(there)} of {sorted(names)} were added"
        if self.harness.answered and not there:
            yield "it was said that they were added"
