"""An attempt has one deadline, whoever noticed it: the agent, which ends a little before, or we."""

from switchyard.domain.tasks.failures import FailureCategory
from worker.agents.time_limits import session_limit_ms
from worker.verdict import Failed, TimedOut, Verdict


def out_of_time(verdict: Verdict, *, timeout_ms: int, ran_ms: int) -> Verdict:
    """The agent's own time-out at the end of all its time ends the task: no second is paid for."""
    if not isinstance(verdict, Failed) or verdict.category is not FailureCategory.TIMEOUT:
        return verdict
    if ran_ms < session_limit_ms(timeout_ms):
        return verdict
    return TimedOut(
        timeout_ms=timeout_ms, duration_ms=ran_ms, signal="SIGTERM", usage=verdict.usage
    )
