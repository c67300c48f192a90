"""Two parents settle together, and dispatchers die on the way from them to their child."""

from switchyard.domain.states import Rule
from tests.simulation.races.harness import ENDS, RaceHarness
from tests.simulation.reference import Declared, ends

PARENTS = ("one", "other")


class TwoParents:
    """The child runs once, if its rule says so, and the job ends as it must."""

    def __init__(self, seed: int) -> None:
        self.harness = RaceHarness(seed, crashes=2)
        dice = self.harness.dice
        self._tasks = [*map(Declared, PARENTS), Declared("child", PARENTS, dice.choice(list(Rule)))]
        self.harness.write(self._tasks, held=PARENTS)
        for name in PARENTS:
            self.harness.endings[name, 1] = dice.choice(ENDS)
            self.harness.settle_soon(name, within=1.0)

    def run(self) -> list[str]:
        self.harness.run()
        return list(self.harness.problems(ends(self._tasks, verdicts=self.harness.verdicts())))
