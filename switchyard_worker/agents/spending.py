"""Adds up the tokens of a session, and their cost by the one table of prices."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.domain.measuring.prices import Cost, Tokens, cost_of
from switchyard_worker.agents.agent import Effort
from switchyard_worker.agents.trace import CacheUse, Trace

BYTES_PER_TOKEN: Final = 3
"""An estimate, rather too few: English has about four, other languages and JSON fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpending:
    tokens: Tokens = field(default_factory=Tokens)
    cost_usd: float = 0.0
    note: str | None = None

    def effort(self, *, turns: int, trace: Trace) -> Effort:
        """Return the effort of a session; the figures are added to its trace."""
        return Effort(
            turns=turns,
            input_tokens=self.tokens.input,
            output_tokens=self.tokens.output,
            cache_read_tokens=self.tokens.cache_read,
            cache_creation_tokens=self.tokens.cache_creation,
            cost_usd=self.cost_usd,
            trace=replace(trace, cache=self._cache(), note=self.note),
        )

    def _cache(self) -> CacheUse:
        return CacheUse(
            input_tokens=self.tokens.input,
            read_tokens=self.tokens.cache_read,
            creation_tokens=self.tokens.cache_creation,
        )


def estimated_tokens(*texts: str) -> int:
    """Estimate the tokens of texts before the API has counted them."""
    return math.ceil(sum(len(text.encode()) for text in texts) / BYTES_PER_TOKEN)


def spending(by_model: Mapping[str, Tokens], *, otherwise: Mapping[str, float]) -> SessionSpending:
    """Add up usage; `otherwise` is the cost of models without a price in our table."""
    costs = {model: cost_of(model, tokens) for model, tokens in by_model.items()}
    used = by_model.values()
    return SessionSpending(
        tokens=Tokens(
            input=sum(tokens.input for tokens in used),
            output=sum(tokens.output for tokens in used),
            cache_read=sum(tokens.cache_read for tokens in used),
            cache_creation=sum(tokens.cache_creation for tokens in used),
        ),
        cost_usd=sum(_usd(cost, otherwise.get(model, 0.0)) for model, cost in costs.items()),
        note="; ".join(cost.note for cost in costs.values() if cost.note) or None,
    )


def _usd(cost: Cost, otherwise: float) -> float:
    return otherwise if cost.usd is None else cost.usd
