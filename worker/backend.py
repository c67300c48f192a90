"""Which agent runs a task: the definition's wish, else the stage's, else what can work."""

from typing import Final

from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import SMOKE_TENANT
from switchyard.settings import AgentBackend
from worker.child_environment import Credential

OFFLINE: Final = "offline"
CLAUDE: Final = "claude-agent-sdk"
MESSAGES: Final = "messages"

NEEDS_CREDENTIAL: Final = frozenset({CLAUDE, MESSAGES})


class OfflineRefused(Rejected):
    """Scripted answers and figures would pass for Claude's."""

    def __init__(self, stage: str) -> None:
        super().__init__(f"this stage runs {stage} only, and the definition asks for {OFFLINE}")


def resolve_backend(
    definition: TaskDefinition,
    *,
    stage: AgentBackend,
    credential: Credential | None,
    tenant: str,
) -> str:
    """Raise `OfflineRefused`, but not for the task that checks a deployment."""
    refuses_offline = stage in NEEDS_CREDENTIAL and tenant != SMOKE_TENANT
    if refuses_offline and definition.backend == OFFLINE:
        raise OfflineRefused(stage)
    wanted = definition.backend or stage
    if wanted == "auto":
        return CLAUDE if credential else OFFLINE
    return wanted
