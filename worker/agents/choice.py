"""Imports the agent that was chosen, and no other."""

from switchyard.domain.failures import FailureCategory
from worker.agents.agent import Agent, AgentFailed


def agent_for(backend: str) -> Agent:
    match backend:
        case "offline":
            from worker.agents.offline import OfflineAgent  # noqa: PLC0415

            return OfflineAgent()
        case "claude-agent-sdk":
            return _claude()
        case _:
            raise AgentFailed(FailureCategory.VALIDATION, f"there is no agent {backend!r}")


def _claude() -> Agent:
    try:
        from worker.agents.claude import ClaudeAgent  # noqa: PLC0415 - takes a second
    except ModuleNotFoundError as error:
        raise AgentFailed(
            FailureCategory.NOT_FOUND,
            f"{error.name} is not installed: run `make setup SETUP_OPTIONS=--claude`, "
            "or choose the offline agent",
        ) from error
    return ClaudeAgent()
