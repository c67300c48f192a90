"""Chooses the agent of a task: its definition's, the stage's, or one that can work here."""

from typing import Final

from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import SMOKE_TENANT
from switchyard.settings import AgentBackend
from switchyard_worker.parent.supervision.child_environment import Credential

OFFLINE: Final = "offline"
CLAUDE: Final = "claude-agent-sdk"
MESSAGES: Final = "messages"

NEEDS_CREDENTIAL: Final = frozenset({CLAUDE, MESSAGES})


class OfflineRefused(Rejected):
    """The offline agent is refused: its scripted answers would pass for Claude's."""

    def __init__(self, stage: str) -> None:
        super().__init__(f"this stage runs {stage} only, and the definition asks for {OFFLINE}")


def resolve_backend(
    definition: TaskDefinition,
    *,
    stage: AgentBackend,
    credential: Credential | None,
    tenant: str,
) -> str:
    """Choose the definition's agent, else the stage's, else one that can work.

    Raise `OfflineRefused`, but not for the task that checks a deployment.
    """
    refuses_offline = stage in NEEDS_CREDENTIAL and tenant != SMOKE_TENANT
    if refuses_offline and definition.backend == OFFLINE:
        raise OfflineRefused(stage)
    return definition.backend or default_backend(stage, credential)


def default_backend(stage: AgentBackend, credential: Credential | None) -> str:
    """Choose the agent of a definition that names none."""
    if stage == "auto":
        return CLAUDE if credential else OFFLINE
    return stage
