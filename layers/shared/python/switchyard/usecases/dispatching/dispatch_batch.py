"""Handles what the dispatch queue delivers at once: what concerns one job is done together.

Settled tasks are followed (`dispatch_task.py`); a job that is being written, cancelled or redriven
goes on by a piece.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from switchyard.contracts.dispatch_messages import WakeUp, wake_up
from switchyard.domain.errors import UnknownJob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job, NextStep, next_step
from switchyard.domain.tasks.task import TaskRun
from switchyard.ports import Clock, DispatchQueue, JobStore
from switchyard.usecases.dispatching.dispatch_task import Dispatcher


class JobStep(Protocol):
    """A step of a large job. All writes are conditional: repeated or broken-off ones do no harm."""

    def go_on(self, job: Job, *, until: float) -> bool:
        """Work until `until` on the monotonic clock; `True` if nothing is left to do."""


@dataclass(frozen=True, kw_only=True)
class JobAdvancer:
    jobs: JobStore
    dispatches: DispatchQueue
    steps: Mapping[NextStep, JobStep]

    def advance(self, ref: JobRef, *, until: float) -> None:
        """Take the one step that the job's state asks for; what is left comes with a new wake-up.

        If that is lost, the job is still due. Raise `UnknownJob`.
        """
        job = self.jobs.find(ref)
        if job is None:
            raise UnknownJob(ref.job_id)
        step = next_step(job)
        if step is not None and not self.steps[step].go_on(job, until=until):
            self.dispatches.send([ref])


T = TypeVar("T")

Answer = WakeUp | Exception
"""The request of a message that was handled; or the reason why the message has to come back."""

Act = Callable[[Sequence[WakeUp]], None]
"""Acts on the wake-ups of one job."""


@dataclass(frozen=True, kw_only=True)
class BatchDispatcher:
    dispatcher: Dispatcher
    advancer: JobAdvancer
    dispatches: DispatchQueue
    clock: Clock
    seconds: float

    def handle(self, bodies: Mapping[str, str]) -> dict[str, Answer]:
        """Handle messages; bodies and answers are by message id.

        It takes about `seconds`: what is left then is sent to the dispatch queue again.
        """
        until = self.clock.monotonic() + self.seconds
        answers: dict[str, Answer] = {
            message_id: _tried(partial(wake_up, body)) for message_id, body in bodies.items()
        }
        for number, group in enumerate(_by_job(answers)):
            late = number > 0 and self.clock.monotonic() >= until
            answers |= self._handle(group, self._leave if late else partial(self._act, until=until))
        return answers

    def _handle(self, group: Mapping[str, WakeUp], act: Act) -> dict[str, Answer]:
        """Handle a group; if it fails, handle each message alone, so that only bad ones return."""
        error = _tried(partial(act, list(group.values())))
        if error is None:
            return dict(group)
        if len(group) == 1:
            return dict.fromkeys(group, error)
        answers: dict[str, Answer] = {}
        for message_id, woken in group.items():
            answers |= self._handle({message_id: woken}, act)
        return answers

    def _leave(self, group: Sequence[WakeUp]) -> None:
        """Send the group back to the queue: it would not be over when the function is."""
        self.dispatches.send(list(dict.fromkeys(woken.ref for woken in group)))

    def _act(self, group: Sequence[WakeUp], *, until: float) -> None:
        tasks = [woken.ref for woken in group if isinstance(woken.ref, TaskRun)]
        if tasks:
            self.dispatcher.dispatch(tasks, until=until, woken_by_event=group[0].by_event)
        jobs = dict.fromkeys(woken.ref for woken in group if isinstance(woken.ref, JobRef))
        for job in jobs:
            self.advancer.advance(job, until=until)


def _by_job(answers: Mapping[str, Answer]) -> Iterable[Mapping[str, WakeUp]]:
    """Group by job, and apart by event or direct message: only what an event says may be old."""
    groups: defaultdict[tuple[type, JobRef, bool], dict[str, WakeUp]] = defaultdict(dict)
    for message_id, answer in answers.items():
        if isinstance(answer, WakeUp):
            groups[type(answer.ref), answer.job, answer.by_event][message_id] = answer
    return list(groups.values())


def _tried(act: Callable[[], T]) -> T | Exception:
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - the answer to one message; the others go on
        return error
