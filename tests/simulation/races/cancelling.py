"""A job, or one of its tasks, is cancelled while its tasks settle."""

from typing import Final

from switchyard.domain.states import Rule, TaskState
from tests.simulation.asking import cancelling, cancelling_task
from tests.simulation.functions import TIMEOUT_SECONDS
from tests.simulation.races.yard import ENDS, RaceYard
from tests.simulation.reference import Declared, ends

HELD: Final = ("one", "other")
SECONDS: Final = 4.0


class Cancellation:
    """Each task is cancelled or ends as it must, and the job with it."""

    def __init__(self, seed: int) -> None:
        self.yard = RaceYard(seed, crashes=3)
        dice, rules = self.yard.dice, list(Rule)
        self._tasks = [
            *map(Declared, HELD),
            Declared("child", HELD, dice.choice(rules)),
            Declared("last", ("child",), dice.choice(rules)),
        ]
        job = self.yard.write(self._tasks, held=HELD)
        for task in self._tasks:
            self.yard.endings[task.task_id, 1] = dice.choice(ENDS)
        for name in HELD:
            self.yard.settle_soon(name, within=SECONDS / 2)
        names = [task.task_id for task in self._tasks]
        one = dice.choice(names)
        whole = dice.choice((True, False))
        self._asked = set(names) if whole else {one}
        call = cancelling(job) if whole else cancelling_task(job.task(one))
        for _ in range(dice.randint(1, 2)):
            self.yard.call_soon(call, within=SECONDS)

    def run(self) -> list[str]:
        self.yard.run(at_least=SECONDS + TIMEOUT_SECONDS)
        states = self.yard.states()
        cancelled = {name for name in self._asked if states[name] is TaskState.CANCELLED}
        verdicts = self.yard.verdicts()
        return list(self.yard.problems(ends(self._tasks, verdicts=verdicts, cancelled=cancelled)))
