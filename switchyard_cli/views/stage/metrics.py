"""A stage's numbers: for people, and for programs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

from rich.console import Group
from rich.text import Text

from switchyard.contracts.metrics import UNITS, numbers_of
from switchyard.contracts.wire import Written, instant
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.wording import duration

if TYPE_CHECKING:
    from rich.table import Table

    from switchyard.domain.measuring.counts import Spending
    from switchyard.domain.measuring.measures import Measurement

UNKNOWN: Final = "?"
MEANINGS: Final = {
    "queue_depth": "messages wait for a worker",
    "in_flight_count": "tasks are held by a worker",
    "consumer_count": "workers are there",
    "claim_rate": "tasks a second were taken",
    "completion_rate": "tasks a second completed",
    "failure_rate": "tasks a second failed",
    "dlq_depth": "messages are in dead-letter queues",
    "avg_processing_time": "an attempt took on average",
    "timeout_rate": "tasks a second timed out or lost their last lease",
    "age_of_oldest_item": "ago the task became ready that waits longest",
    "verified_share": "of the completed tasks met all their commitments",
    "usd_per_verified": "were spent for each task that met its commitments",
    "saturated_consumers": "percent of the workers' slots are busy",
}
_SECONDS_PER: Final = {"Seconds": 1.0, "Milliseconds": 0.001}


class DefinitionSpending(Written):
    definition: str
    cost_usd: float
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int

    @classmethod
    def of(cls, definition: str, spending: Spending) -> Self:
        return cls(
            definition=definition,
            cost_usd=spending.cost_usd,
            input_tokens=spending.input_tokens,
            output_tokens=spending.output_tokens,
            cache_read_tokens=spending.cache_read_tokens,
        )


class StageMetrics(Written):
    stage: str
    at: datetime
    window_seconds: float
    metrics: dict[str, float | None]
    """The values by their CloudWatch names; `None` where nothing is known."""
    definitions: tuple[DefinitionSpending, ...]

    @classmethod
    def of(cls, measured: Measurement, stage: Stage) -> Self:
        spent = measured.flow.by_definition.items()
        return cls(
            stage=stage,
            at=instant(measured.at_ms),
            window_seconds=measured.window_ms / 1000,
            metrics=_numbers(measured),
            definitions=tuple(DefinitionSpending.of(*one) for one in spent),
        )


def metrics_table(measured: Measurement, stage: Stage) -> Group:
    window = duration(measured.window_ms / 1000)
    title = heading(f"{stage}: now, and rates of the last {window}")
    if not measured.flow.by_definition:
        return Group(title, _table(measured))
    return Group(title, _table(measured), Text(), _spending(measured))


def _numbers(measured: Measurement) -> dict[str, float | None]:
    known = {**numbers_of(measured.levels), **numbers_of(measured.flow)}
    return {name: known.get(name) for name in MEANINGS}


def _table(measured: Measurement) -> Table:
    table = table_of("metric", "now", giving_way="")
    for name, number in _numbers(measured).items():
        table.add_row(name, _spoken(name, number), cut_to_fit(MEANINGS[name]))
    return table


def _spoken(name: str, number: float | None) -> str:
    if number is None:
        return UNKNOWN
    if name == "verified_share":
        return f"{number:.0%}"
    if name == "usd_per_verified":
        return f"${number:,.4f}"
    if UNITS[name] in _SECONDS_PER:
        return duration(number * _SECONDS_PER[UNITS[name]])
    return f"{number:,.3f}" if UNITS[name] == "Count/Second" else f"{number:,}"


def _spending(measured: Measurement) -> Table:
    table = table_of("cost", "input", "output", "cache read", giving_way="definition")
    for name, spent in measured.flow.by_definition.items():
        tokens = (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens)
        reported = [f"{count:,}" for count in tokens]
        table.add_row(f"${spent.cost_usd:.4f}", *reported, cut_to_fit(clean(name)))
    return table
