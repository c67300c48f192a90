"""Which agent runs a task: the definition's wish, else the stage's, else what can work."""

from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.errors import Rejected
from switchyard.settings import AgentBackend
from worker.child_environment import Credential

OFFLINE = "offline"
CLAUDE = "claude-agent-sdk"


class OfflineRefused(Rejected):
    """Scripted answers and figures would pass for Claude's."""

    def __init__(self) -> None:
        super().__init__(f"this stage runs {CLAUDE} only, and the definition asks for {OFFLINE}")


def resolve_backend(
    definition: TaskDefinition, *, stage: AgentBackend, credential: Credential | None
) -> str:
    """Raise `OfflineRefused`."""
    if stage == CLAUDE and definition.backend == OFFLINE:
        raise OfflineRefused
    wanted = definition.backend or stage
    if wanted == "auto":
        return CLAUDE if credential else OFFLINE
    return wanted
