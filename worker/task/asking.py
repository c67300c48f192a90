"""Asks the agent, again if it failed at no cost and may answer yet."""

from contextlib import AbstractContextManager, nullcontext

from switchyard.domain.tasks.failures import FailureCategory, GiveUp
from switchyard.domain.tasks.step_retries import StepFailure, decide_step_retry
from worker.agents.agent import Agent, AgentFailed, Answer
from worker.task.alarm import StepTimedOut, alarm_after
from worker.task.assignment import Assignment
from worker.task.clock import Deadline, sleep_between
from worker.task.markers import mark


def ask(agent: Agent, prompt: str, assignment: Assignment, deadline: Deadline) -> Answer:
    """Within the step's time, pauses included. `deadline` is the attempt's. Raise `AgentFailed`."""
    step_deadline = Deadline(assignment.timeout_ms)
    try:
        with _alarm(assignment.timeout_ms, deadline):
            return _ask_patiently(agent, prompt, assignment, step_deadline)
    except StepTimedOut as late:
        raise AgentFailed(FailureCategory.TIMEOUT, str(late)) from late


def _alarm(timeout_ms: int, deadline: Deadline) -> AbstractContextManager[None]:
    """A step with all the time that is left is ended by the worker, and the task with it."""
    return alarm_after(timeout_ms) if timeout_ms < deadline.left_ms else nullcontext()


def _ask_patiently(agent: Agent, prompt: str, assignment: Assignment, deadline: Deadline) -> Answer:
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
