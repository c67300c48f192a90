"""Two parents settle together, and dispatchers die on the way from them to their child."""

from switchyard.domain.states import Rule
from tests.simulation.races.yard import ENDS, RaceYard
from tests.simulation.reference import Declared, ends

PARENTS = ("one", "other")


class TwoParents:
    """The child runs once, if its rule says so, and the job ends as it must."""

    def __init__(self, seed: int) -> None:
        self.yard = RaceYard(seed, crashes=2)
        dice = self.yard.dice
        self._tasks = [*map(Declared, PARENTS), Declared("child", PARENTS, dice.choice(list(Rule)))]
        self.yard.write(self._tasks, held=PARENTS)
        for name in PARENTS:
            self.yard.endings[name, 1] = dice.choice(ENDS)
            self.yard.settle_soon(name, within=1.0)

    def run(self) -> list[str]:
        self.yard.run()
        return list(self.yard.problems(ends(self._tasks, verdicts=self.yard.verdicts())))
