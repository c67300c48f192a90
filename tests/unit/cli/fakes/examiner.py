"""Stages to be examined, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.diagnosis import STACKS, Switch, SwitchKind, Workers
from switchyard.domain.health.presence import Pause
from switchyard.domain.health.rollout import RolloutState
from switchyard.usecases.health.examine_stage import Examiner
from switchyard_local.endpoint import Endpoint


@dataclass
class FakeInspection:
    """A stage that is well."""

    nobody: Unavailable | None = None
    blind: Unavailable | None = None
    """For everything but who looks."""
    statuses: dict[str, str] = field(
        default_factory=lambda: dict.fromkeys(STACKS, "CREATE_COMPLETE")
    )
    secrets: set[str] = field(
        default_factory=lambda: {
            f"switchyard/{name}"
            for name in ("dev/claude", "dev/slack", "dev/webhooks", "local/webhooks")
        }
    )
    bootstrapped: int | None = 21
    service: Workers | None = field(
        default_factory=lambda: Workers(wanted=1, running=1, image="worker:1", image_exists=True)
    )
    rules: list[Switch] = field(
        default_factory=lambda: [
            Switch("every-event", SwitchKind.SUBSCRIPTION, on=True),
            Switch("every-minute", SwitchKind.SCHEDULE, on=True),
        ]
    )
    letters: dict[str, int] = field(default_factory=lambda: {"switchyard-dev-task-queue-dlq": 0})

    def caller(self) -> str:
        if self.nobody:
            raise self.nobody
        return "arn:aws:iam::123456789012:user/ada"

    def stacks(self) -> Mapping[str, str]:
        self._look()
        return self.statuses

    def has_secret(self, name: str) -> bool:
        self._look()
        return name in self.secrets

    def bootstrap_version(self) -> int | None:
        self._look()
        return self.bootstrapped

    def workers(self) -> Workers | None:
        self._look()
        return self.service

    def switches(self) -> Sequence[Switch]:
        self._look()
        return self.rules

    def dead_letters(self) -> Mapping[str, int]:
        self._look()
        return self.letters

    def _look(self) -> None:
        if self.blind:
            raise self.blind


class FakeExaminer:
    def __init__(self) -> None:
        self.inspection = FakeInspection()
        self.pause: Pause | None = None
        self.rollout = RolloutState(current=None, workers=())
        self.tenants_with_keys = {"acme", "switchyard-smoke"}
        self.asked: list[tuple[str, bool]] = []

    def __call__(self, stage: str, option: str, local: Endpoint | None) -> Examiner:
        self.asked.append((stage, local is not None))
        return Examiner(
            stage=stage,
            option=option,
            inspection=self.inspection,
            paused=lambda: self.pause,
            rollout=lambda: self.rollout,
            tenants_with_keys=lambda: self.tenants_with_keys,
        )
