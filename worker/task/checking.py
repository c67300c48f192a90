"""What a step made, held against its schema before the next step builds on it.

The last step's output is the task's: the worker judges that one itself.
"""

import json
from typing import TYPE_CHECKING, Any

from switchyard.domain.tasks.failures import FailureCategory
from worker.agents.agent import AgentFailed
from worker.task.assignment import Step

if TYPE_CHECKING:
    from worker.guard.blocking import BlockingGuard


class StepChecks:
    """Holds outputs against schemas in a guarded process, which is started once."""

    def __init__(self) -> None:
        self._guard: BlockingGuard | None = None

    def check(self, step: Step, output: Any) -> None:
        """Raise `AgentFailed`. Imports the checker only if there is something to check."""
        if step.output_schema is None:
            return
        from worker.guard.blocking import BlockingGuard  # noqa: PLC0415
        from worker.guard.examine import Wrong  # noqa: PLC0415
        from worker.guard.starting import GuardUnavailable  # noqa: PLC0415

        self._guard = self._guard or BlockingGuard()
        try:
            finding = self._guard.check_value(json.dumps(output).encode(), step.output_schema)
        except GuardUnavailable as problem:
            raise AgentFailed(FailureCategory.SERVER_ERROR, str(problem)) from problem
        if finding.wrong is Wrong.MISMATCH:
            message = f"its output does not match its schema: {finding.message}"
            raise AgentFailed(FailureCategory.PARSE, message)
        if finding.wrong is not None:
            message = f"its output schema cannot be applied: {finding.message}"
            raise AgentFailed(FailureCategory.VALIDATION, message)

    def close(self) -> None:
        if self._guard:
            self._guard.close()
