"""Whether the workers of a stage claim tasks, as `pause` and `resume` answer."""

from datetime import datetime
from typing import Self

from switchyard.contracts.wire import Written, instant
from switchyard.domain.health.presence import Pause
from switchyard_cli.stages import Stage


class ConsumptionState(Written):
    stage: str
    paused: bool
    since: datetime | None = None
    reason: str | None = None

    @classmethod
    def of(cls, pause: Pause | None, stage: Stage) -> Self:
        if pause is None:
            return cls(stage=stage, paused=False)
        since = instant(pause.since_ms)
        return cls(stage=stage, paused=True, since=since, reason=pause.reason)
