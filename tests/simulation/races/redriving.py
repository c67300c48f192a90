"""A settled job is redriven while wake-ups of its last run still arrive."""

import json
from typing import Final

from switchyard.contracts.dispatch_messages import WAKING_EVENTS, DispatchMessage
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import END, START
from switchyard.domain.states import Rule, TaskState
from switchyard.domain.tasks.task import TaskRun
from tests.simulation.asking import redriving
from tests.simulation.races.harness import ENDS, RaceHarness
from tests.simulation.reference import AGAIN, Declared, ends, reopened
from tests.simulation.scripted.changes import selection
from tests.simulation.stage.functions import TIMEOUT_SECONDS

HELD: Final = ("one", "other")
WAKE_UPS: Final = 8
SECONDS: Final = 6.0


class LateWakeUps:
    """Late wake-ups change nothing; what is reopened runs once more, and ends as it must."""

    def __init__(self, seed: int) -> None:
        self.harness = RaceHarness(seed, crashes=3)
        dice, rules = self.harness.dice, list(Rule)
        self._tasks = [
            *map(Declared, HELD),
            Declared("child", HELD, dice.choice(rules)),
            Declared("last", ("child",), dice.choice(rules)),
        ]
        self._job = self.harness.write(self._tasks, held=HELD)
        for task in self._tasks:
            self.harness.endings[task.task_id, 1] = dice.choice(ENDS)
            self.harness.endings[task.task_id, 2] = dice.choice(ENDS)
        for name in HELD:
            self.harness.settle_soon(name, within=1.0)

    def run(self) -> list[str]:
        self.harness.run()
        first = ends(self._tasks, verdicts=self.harness.verdicts())
        found = list(self.harness.problems(first))
        if found:
            return found
        chosen = selection(self.harness.dice, first)
        if any(name.startswith(AGAIN) for name in chosen):
            self.harness.history.asked_again.add(self._job)
        for _ in range(2):
            self.harness.call_soon(redriving(self._job, chosen), within=SECONDS)
        self._wake_again()
        self.harness.run(at_least=SECONDS + TIMEOUT_SECONDS)
        return list(self.harness.problems(self._expected(first, chosen)))

    def _wake_again(self) -> None:
        """Wake again with what is still under way of the last run, or comes a second time."""
        cloud, dice = self.harness.cloud, self.harness.dice
        refs = [self._job.task(task.task_id) for task in self._tasks]
        for_workers = [TaskMessage.to(ref, run=1).model_dump_json(by_alias=True) for ref in refs]
        hidden = [self._job.task(START), self._job.task(END)]
        old = [DispatchMessage.to(TaskRun(ref, 1)) for ref in (*refs, *hidden)]
        sent = [message.model_dump_json(by_alias=True) for message in old]
        emitted = [message.body for message in cloud.event_queue.messages.values()]
        waking = [
            body for body in emitted if json.loads(body)["detail"]["eventType"] in WAKING_EVENTS
        ]
        for body in dice.choices(sent + waking, k=WAKE_UPS):
            cloud.dispatch.put(body, delay=dice.uniform(0, SECONDS))
        for body in dice.choices(for_workers, k=WAKE_UPS // 2):
            cloud.tasks.put(body, delay=dice.uniform(0, SECONDS))

    def _expected(
        self, first: dict[str, TaskState], chosen: frozenset[str]
    ) -> dict[str, TaskState]:
        """Expect the job as it was, if no redrive got through."""
        if self.harness.history.jobs[self._job].run == 1:
            return first
        again = reopened(self._tasks, first, chosen)
        return ends(self._tasks, verdicts=self.harness.verdicts(), before=first, reopening=again)
