"""What an attempt may spend on Claude, and what its verdict says about that."""

from dataclasses import replace
from typing import Final

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.settings import WorkerSettings
from worker.claude_access import Allowance, ClaudeAccess
from worker.task.assignment import Assignment
from worker.verdict import Failed, HandedBack, Verdict

SECONDS_BEYOND: Final = 30.0
"""A token outlives its attempt by so much at most, should nobody revoke it."""
UNNAMED_MODEL: Final = "inherit"
WEB_SEARCH: Final = "WebSearch"


def allowance_for(assignment: Assignment, settings: WorkerSettings) -> Allowance:
    named = assignment.model
    own = settings.claude_model if named == UNNAMED_MODEL else named
    extra = [model.strip() for model in settings.claude_extra_models.split(",") if model.strip()]
    return Allowance(
        request_id=assignment.request_id,
        models=tuple(dict.fromkeys([own, *extra])),
        seconds=assignment.timeout_ms / 1000 + SECONDS_BEYOND,
        cap_usd=assignment.max_cost_usd,
        web_search=any(WEB_SEARCH in step.tools for step in assignment.in_order()),
    )


def counted(verdict: Verdict, access: ClaudeAccess) -> Verdict:
    """Add what the API reported, whatever the child claims; and the cap, if that ended it."""
    if isinstance(verdict, HandedBack):
        return verdict
    verdict = replace(verdict, usage=access.usage)
    stopped = access.spent.stopped
    if stopped and isinstance(verdict, Failed):
        return replace(verdict, category=FailureCategory.VALIDATION, error=stopped)
    return verdict
