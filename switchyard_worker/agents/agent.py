"""Defines an agent: given a prompt, it answers or fails, and reports what that took."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.trace import ToolCall, Trace
from switchyard_worker.boundary import Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The turns, tokens and money that an answer or a failure took."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    cost_usd: float = 0.0
    trace: Trace = field(default_factory=Trace)

    @property
    def free(self) -> bool:
        """Return whether no token was paid for, so that another try costs nothing either."""
        return not (self.cost_usd or self.input_tokens or self.output_tokens)

    @property
    def tokens(self) -> int:
        """Return all tokens: read, written, and read from or written to the cache."""
        read = self.input_tokens + self.cache_read_tokens + self.cache_creation_tokens
        return read + self.output_tokens

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return self.trace.tool_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    output: Any
    effort: Effort


class AgentFailed(Exception):
    """An agent did not answer; `retry_after_ms` is how long the API asked to wait, if it did."""

    def __init__(
        self,
        category: FailureCategory,
        message: str,
        *,
        effort: Effort | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.category = category
        self.effort = effort or Effort()
        self.retry_after_ms = retry_after_ms


class Agent(Protocol):
    def run(self, prompt: str, assignment: Assignment) -> Answer:
        """Answer a prompt; `assignment` is that of one step. Raise `AgentFailed`."""


def agent_for(backend: str) -> Agent:
    """Return an agent. Raise `AgentFailed` if it does not exist or is not installed."""
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
            from switchyard_worker.agents.offline import OfflineAgent  # noqa: PLC0415

            return OfflineAgent()
        case "claude-agent-sdk":
            from switchyard_worker.agents.claude import ClaudeAgent  # noqa: PLC0415

            return ClaudeAgent()
        case "messages":
            from switchyard_worker.agents.messages import MessagesAgent  # noqa: PLC0415

            return MessagesAgent()
    raise AgentFailed(FailureCategory.VALIDATION, f"there is no agent {backend!r}")
