"""Which agent runs a task: the definition's wish, else the stage's, else what can work."""

from switchyard.contracts.definitions import TaskDefinition
from switchyard.settings import AgentBackend
from worker.child_environment import Credential

OFFLINE = "offline"
CLAUDE = "claude-agent-sdk"


def resolve_backend(
    definition: TaskDefinition, *, stage: AgentBackend, credential: Credential | None
) -> str:
    wanted = definition.backend or stage
    if wanted == "auto":
        return CLAUDE if credential else OFFLINE
    return wanted
