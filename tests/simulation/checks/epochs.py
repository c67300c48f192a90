"""How every task of a job stood each time that the job was settled."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from switchyard.domain.fan_out.earlier_items import has_left_the_list
from switchyard.domain.ids import JobRef
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task
from tests.simulation.checks.history import History
from tests.simulation.cloud.cloud import Cloud
from tests.simulation.cloud.table import Change


@dataclass(frozen=True, slots=True)
class Epoch:
    """The time from a job's opening, or its redrive, to its end."""

    run: int
    outcome: JobState
    tasks: Mapping[str, Task]
    """The tasks that people see."""

    @property
    def states(self) -> dict[str, TaskState]:
        return {name: task.state for name, task in self.tasks.items()}

    @property
    def declared_states(self) -> dict[str, TaskState]:
        """Return the states of the tasks that were declared: a fan-out stands for its items."""
        return {n: task.state for n, task in self.tasks.items() if not task.ref.fan_out}

    @property
    def items(self) -> dict[str, list[TaskState]]:
        """How the items of each fan-out ended that has made some."""
        made: dict[str, list[TaskState]] = {}
        for task in self.tasks.values():
            if task.ref.fan_out and not has_left_the_list(task):
                made.setdefault(task.ref.fan_out, []).append(task.state)
        return made


class Epochs:
    def __init__(self, cloud: Cloud, history: History) -> None:
        """Made after the history, which by then has taken note of each change."""
        self._history = history
        self._state = cloud.state
        self.of: defaultdict[JobRef, list[Epoch]] = defaultdict(list)
        cloud.dynamodb.on_change.append(self._remember)

    def _remember(self, change: Change) -> None:
        if change.table != self._state or change.key[1] != "JOB":
            return
        for ref, job in self._history.jobs.items():
            known = self.of[ref]
            if job.state.settled and (not known or known[-1].run < job.run):
                known.append(Epoch(job.run, job.state, self._tasks(ref)))

    def _tasks(self, job: JobRef) -> dict[str, Task]:
        return {
            ref.task_id: versions[-1].new
            for ref, versions in self._history.tasks.items()
            if ref.job == job and self._history.is_visible(ref)
        }
