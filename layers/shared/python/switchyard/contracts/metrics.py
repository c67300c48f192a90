"""Names that the measuring function publishes under, and dashboards and alarms look for."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from switchyard.domain.measuring.counts import Spending
from switchyard.domain.measuring.measures import Flow, Levels, PoolLevels

NAMESPACE: Final = "Switchyard"
"""The namespace of all metrics, in CloudWatch."""
STAGE: Final = "stage"
DEFINITION: Final = "definition"
POOL: Final = "pool"
COST: Final = "cost_usd"
TOKENS: Final = "tokens"
RECEIVED: Final = "Received"
"""The metric in which each function of a queue counts the messages it is called with."""

Numbers = Mapping[str, float]

UNITS: Final[Mapping[str, str]] = {
    "queue_depth": "Count",
    "in_flight_count": "Count",
    "consumer_count": "Count",
    "claim_rate": "Count/Second",
    "completion_rate": "Count/Second",
    "failure_rate": "Count/Second",
    "dlq_depth": "Count",
    "avg_processing_time": "Milliseconds",
    "timeout_rate": "Count/Second",
    "age_of_oldest_item": "Seconds",
    "verified_share": "None",
    "usd_per_verified": "None",
    "saturated_consumers": "Percent",
    COST: "None",
    TOKENS: "Count",
}


def numbers_of(measured: Levels | PoolLevels | Flow) -> Numbers:
    """Return the numbers by the names of their metrics; unknown ones are left out."""
    return {
        name: value
        for name, value in asdict(measured).items()
        if name in UNITS and value is not None
    }


def spent(spending: Spending) -> Numbers:
    return {COST: spending.cost_usd, TOKENS: spending.tokens}
