"""What a step made, held against its schema before the next step builds on it.

The last step's output is the task's: the worker judges that one itself.
"""

from typing import Any

from switchyard.domain.tasks.failures import FailureCategory
from worker.agents.agent import AgentFailed
from worker.task.assignment import Step


def check_output(step: Step, output: Any) -> None:
    """Raise `AgentFailed`. Imports the checker only if there is something to check."""
    if step.output_schema is None:
        return
    from worker.schema_check import UnusableSchema  # noqa: PLC0415
    from worker.schema_guard import guarded_mismatch  # noqa: PLC0415

    try:
        problem = guarded_mismatch(output, step.output_schema)
    except UnusableSchema as error:
        message = f"its output schema cannot be applied: {error}"
        raise AgentFailed(FailureCategory.VALIDATION, message) from error
    if problem is not None:
        message = f"its output does not match its schema: {problem}"
        raise AgentFailed(FailureCategory.PARSE, message)
