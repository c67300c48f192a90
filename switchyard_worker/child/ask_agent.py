"""Asks the agent within a step's time, again if it failed at no cost and may answer yet."""

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import Final

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.retries import GiveUp, StepFailure, decide_step_retry
from switchyard_worker.agents.agent import Agent, AgentFailed, Answer
from switchyard_worker.agents.clock import Deadline, sleep_between
from switchyard_worker.boundary import Assignment, mark

AGAIN_SECONDS: Final = 5.0  # an event loop may swallow the first one while it runs a callback


class StepTimedOut(Exception):
    def __init__(self, milliseconds: int) -> None:
        super().__init__(f"the step took longer than {milliseconds} ms")


@contextmanager
def alarm_after(milliseconds: int) -> Iterator[None]:
    """Raise `StepTimedOut` in the block once the time is over."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise StepTimedOut(milliseconds)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(milliseconds, 1) / 1000, AGAIN_SECONDS)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ask(agent: Agent, prompt: str, assignment: Assignment, deadline: Deadline) -> Answer:
    """Ask within the step's time; `deadline` is the attempt's. Raise `AgentFailed`."""
    step_deadline = Deadline(assignment.timeout_ms)
    try:
        with _alarm(assignment.timeout_ms, deadline):
            return _ask_with_retries(agent, prompt, assignment, step_deadline)
    except StepTimedOut as late:
        raise AgentFailed(FailureCategory.TIMEOUT, str(late)) from late


def _alarm(timeout_ms: int, deadline: Deadline) -> AbstractContextManager[None]:
    """Set an alarm, unless the step has all the time that is left: the worker ends that."""
    return alarm_after(timeout_ms) if timeout_ms < deadline.left_ms else nullcontext()


def _ask_with_retries(
    agent: Agent, prompt: str, assignment: Assignment, deadline: Deadline
) -> Answer:
    tries = 0
    while True:
        tries += 1
        mark("sdk_query", step=assignment.step_name)
        try:
            return agent.run(prompt, assignment)
        except AgentFailed as failure:
            _pause_or_raise(failure, tries, assignment.step_name, deadline)


def _pause_or_raise(failure: AgentFailed, tries: int, step: str, deadline: Deadline) -> None:
    decision = decide_step_retry(
        StepFailure(
            category=failure.category,
            paid=not failure.effort.free,
            tries=tries,
            retry_after_ms=failure.retry_after_ms,
        ),
        time_left_ms=deadline.left_ms,
    )
    if isinstance(decision, GiveUp):
        raise failure
    mark("waiting", step=step)
    sleep_between(decision.shortest_ms, decision.longest_ms)
