"""Reads from an event what it adds to the counters of its minute."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from switchyard.contracts.events.envelope import ArrivedEvent
from switchyard.contracts.events.tasks import (
    TaskCompleted,
    TaskFailed,
    TaskProcessingFailed,
    TaskProcessingStarted,
    TaskTimeout,
)
from switchyard.domain.ids import DEFINITION_NAME
from switchyard.domain.measuring.counts import UNKNOWN, Counts, Spending
from switchyard.domain.tasks.claim_refusals import EXHAUSTED

LAST_MS: Final = 9_999_999_999_999  # the counters' keys sort thirteen digits
_MOST: Final = 10**12  # far more than an attempt can use

_COUNTED: Final[Mapping[str, Counts]] = {
    TaskProcessingStarted.event_type: Counts(claims=1),
    TaskCompleted.event_type: Counts(completions=1),
    TaskFailed.event_type: Counts(failures=1),
    TaskProcessingFailed.event_type: Counts(failed_attempts=1),
    TaskTimeout.event_type: Counts(timeouts=1),
}

Count = Annotated[int, Field(ge=0, le=_MOST)]


class CountedFields(BaseModel):
    """The fields that are counted: a newer sender may say more, an older one says less."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class CountedUsage(CountedFields):
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cost_usd: float = Field(default=0.0, ge=0, le=_MOST / 1_000_000, allow_inf_nan=False)


class _Figures(CountedFields):
    name: Annotated[str, Field(pattern=f"^{DEFINITION_NAME.pattern}$")] = UNKNOWN
    duration_ms: Count | None = None
    elapsed_ms: Count | None = None
    """The duration, as the event Task Timeout names it."""
    usage: CountedUsage = CountedUsage()


def counted(event: ArrivedEvent) -> Counts | None:
    """Return what the event adds; `None` if such events are not counted."""
    once = _COUNTED.get(event.event_type)
    if once is None or not 0 <= event.timestamp <= LAST_MS:
        return None
    if event.properties.get("errorCategory") == EXHAUSTED:  # its last lease ran out
        once += Counts(timeouts=1)
    if event.event_type == TaskCompleted.event_type and event.properties.get("verified") is True:
        once += Counts(verified=1)
    figures = _figures(event.properties)
    took_ms = figures.elapsed_ms if figures.duration_ms is None else figures.duration_ms
    spent = _spending(figures.usage)
    return once + Counts(
        timed=0 if took_ms is None else 1,
        processing_ms=took_ms or 0,
        by_definition={} if spent == Spending() else {figures.name: spent},
    )


def _figures(properties: Mapping[str, Any]) -> _Figures:
    try:
        return _Figures.model_validate(properties)
    except ValidationError:  # that it happened is still true
        return _Figures()


def _spending(usage: CountedUsage) -> Spending:
    return Spending(
        cost_micro_usd=round(usage.cost_usd * 1_000_000),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
    )
