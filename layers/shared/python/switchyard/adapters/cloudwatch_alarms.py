"""Reads alarms as CloudWatch shows them at this moment."""

from typing import Any

from switchyard.adapters.aws import call
from switchyard.domain.alerts.stage_incidents import Alarm


class CloudWatchAlarms:
    def __init__(self, client: Any) -> None:
        self._client = client

    def find(self, name: str) -> Alarm | None:
        answer = call(self._client.describe_alarms, AlarmNames=[name])
        found = [*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ())]
        return _alarm(found[0]) if found else None


def _alarm(found: dict[str, Any]) -> Alarm:
    return Alarm(
        name=found["AlarmName"],
        raised=found["StateValue"] == "ALARM",
        meaning=found.get("AlarmDescription") or "",
        reason=found.get("StateReason") or "",
    )
