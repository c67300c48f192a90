"""A job, or one of its tasks, is cancelled while its tasks settle."""

from typing import Final

from switchyard.domain.states import Rule, TaskState
from tests.simulation.asking import cancelling, cancelling_task
from tests.simulation.races.harness import ENDS, RaceHarness
from tests.simulation.reference import Declared, ends
from tests.simulation.stage.functions import TIMEOUT_SECONDS

HELD: Final = ("one", "other")
SECONDS: Final = 4.0


class Cancellation:
    """Each task is cancelled or ends as it must, and the job with it."""

    def __init__(self, seed: int) -> None:
        self.harness = RaceHarness(seed, crashes=3)
        dice, rules = self.harness.dice, list(Rule)
        self._tasks = [
            *map(Declared, HELD),
            Declared("child", HELD, dice.choice(rules)),
            Declared("last", ("child",), dice.choice(rules)),
        ]
        job = self.harness.write(self._tasks, held=HELD)
        for task in self._tasks:
            self.harness.endings[task.task_id, 1] = dice.choice(ENDS)
        for name in HELD:
            self.harness.settle_soon(name, within=SECONDS / 2)
        names = [task.task_id for task in self._tasks]
        one = dice.choice(names)
        whole = dice.choice((True, False))
        self._asked = set(names) if whole else {one}
        call = cancelling(job) if whole else cancelling_task(job.task(one))
        for _ in range(dice.randint(1, 2)):
            self.harness.call_soon(call, within=SECONDS)

    def run(self) -> list[str]:
        self.harness.run(at_least=SECONDS + TIMEOUT_SECONDS)
        states = self.harness.states()
        cancelled = {name for name in self._asked if states[name] is TaskState.CANCELLED}
        verdicts = self.harness.verdicts()
        return list(
            self.harness.problems(ends(self._tasks, verdicts=verdicts, cancelled=cancelled))
        )
