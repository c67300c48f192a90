"""Imports the agent that was chosen, and no other: the Claude SDKs take a second each."""

from switchyard.domain.tasks.failures import FailureCategory
from worker.agents.agent import Agent, AgentFailed


def agent_for(backend: str) -> Agent:
    """Raise `AgentFailed` for one that does not exist or is not installed."""
    try:
        return _imported(backend)
    except ModuleNotFoundError as error:
        raise AgentFailed(
            FailureCategory.NOT_FOUND,
            f"{error.name} is not installed: run `make setup SETUP_OPTIONS=--claude`, "
            "or choose the offline agent",
        ) from error


def _imported(backend: str) -> Agent:
    match backend:
        case "offline":
            from worker.agents.offline import OfflineAgent  # noqa: PLC0415

            return OfflineAgent()
        case "claude-agent-sdk":
            from worker.agents.claude import ClaudeAgent  # noqa: PLC0415

            return ClaudeAgent()
        case "messages":
            from worker.agents.messages import MessagesAgent  # noqa: PLC0415

            return MessagesAgent()
    raise AgentFailed(FailureCategory.VALIDATION, f"there is no agent {backend!r}")
