"""Puts a streamed message together, so that what was paid for is known even if it breaks off."""

from anthropic.types import MessageDeltaUsage, RawMessageStreamEvent, Usage

from switchyard.domain.measuring.prices import Tokens
from worker.agents.agent import Effort
from worker.agents.spending import spending
from worker.agents.trace import Trace


class MessageHeard:
    def __init__(self, model: str) -> None:
        self._model = model
        self._tokens = Tokens()
        self._text: list[str] = []
        self.stop_reason: str | None = None
        """`None` until the message is whole."""

    @property
    def text(self) -> str:
        return "".join(self._text)

    def hear(self, event: RawMessageStreamEvent) -> None:
        if event.type == "message_start":
            self._count(event.message.usage)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            self._text.append(event.delta.text)
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason
            self._count(event.usage)

    def effort(self) -> Effort:
        spent = spending({self._model: self._tokens}, otherwise={})
        return spent.effort(turns=1 if self._tokens.read else 0, trace=Trace())

    def _count(self, usage: Usage | MessageDeltaUsage) -> None:
        """The last figure of each kind is the sum of all before."""
        known = self._tokens
        self._tokens = Tokens(
            input=_latest(usage.input_tokens, known.input),
            output=_latest(usage.output_tokens, known.output),
            cache_read=_latest(usage.cache_read_input_tokens, known.cache_read),
            cache_creation=_latest(usage.cache_creation_input_tokens, known.cache_creation),
        )


def _latest(told: int | None, known: int) -> int:
    return known if told is None else told
