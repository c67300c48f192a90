"""What commands print with `--json` where the API has no model for it.

The modules of the commands import this when they print: their help needs no Pydantic.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Self

from switchyard.contracts.wire import Written, instant
from switchyard.domain.health.diagnosis import Level
from switchyard.domain.ids import SMOKE_TENANT

if TYPE_CHECKING:
    from switchyard.domain.access.api_keys import ApiKey
    from switchyard.domain.access.tenants import TenantSettings
    from switchyard.domain.health.diagnosis import Finding
    from switchyard_cli.actions.smoke_check import SmokeCheck, StepFailed
    from switchyard_cli.stages import Stage


class AdditionPlan(Written):
    levels: tuple[tuple[str, ...], ...]
    """Tasks of one level can run at the same time."""
    tasks_expected: tuple[str, ...]
    """Names of parents that are not in the file: they must be in the job."""
    definitions_in_file: tuple[str, ...]
    definitions_expected: tuple[str, ...]


class PrintedLine(Written):
    line: str


class PushedFunction(Written):
    """One function of a package; `version` is absent where nothing was registered."""

    name: str
    function: str
    code_hash: str
    version: int | None = None


class CloudStatus(Written):
    running: bool
    healthy: bool
    port: int
    api_url: str | None
    ministack_pid: int | None
    worker_pid: int | None


class FindingView(Written):
    subject: str
    level: Level
    said: str
    fix: str | None

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls(subject=finding.subject, level=finding.level, said=finding.said, fix=finding.fix)


class IssuedKey(Written):
    tenant: str
    stage: str
    key: str


class ListedKey(Written):
    id: str
    name: str | None
    created_at: datetime
    last_used_on: str | None
    revoked_at: datetime | None

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        return cls(
            id=key.key_id,
            name=key.label,
            created_at=instant(key.created_at_ms),
            last_used_on=key.last_used_on,
            revoked_at=instant(key.revoked_at_ms),
        )


class MovedKey(Written):
    tenant: str
    id: str
    name: str | None
    created_at: datetime

    @classmethod
    def of(cls, tenant: str, key: ApiKey) -> Self:
        created_at = instant(key.created_at_ms)
        return cls(tenant=tenant, id=key.key_id, name=key.label, created_at=created_at)


class TenantView(Written):
    tenant: str
    weight: float
    slack_channels: tuple[str, ...]
    slack_operators: tuple[str, ...]

    @classmethod
    def of(cls, tenant: str, settings: TenantSettings, *, weight: float) -> Self:
        return cls(
            tenant=tenant,
            weight=weight,
            slack_channels=settings.slack_channels,
            slack_operators=settings.slack_operators,
        )


class PausedParts(Written):
    stage: str
    paused: tuple[str, ...]


class ErasureReport(Written):
    tenant: str
    erased: bool
    counts: dict[str, int]
    not_erased: str


class StepView(Written):
    step: str
    seconds: float


class SmokeReport(Written):
    stage: str
    passed: bool
    seconds: float
    job_id: str | None
    steps: tuple[StepView, ...]
    failed_step: str | None = None
    problem: str | None = None
    look_at: str | None = None

    @classmethod
    def of(cls, check: SmokeCheck, stage: Stage, failed: StepFailed | None) -> Self:
        from switchyard_cli.actions.smoke_check import advice  # noqa: PLC0415 - imports the client

        report = cls(
            stage=stage,
            passed=failed is None,
            seconds=round(check.seconds, 3),
            job_id=check.job_id,
            steps=tuple(StepView(step=r.step, seconds=round(r.seconds, 3)) for r in check.reached),
        )
        if failed is None:
            return report
        look_at = advice(failed.step, stage, tenant=SMOKE_TENANT)
        return report.model_copy(
            update={"failed_step": failed.step, "problem": failed.problem, "look_at": look_at}
        )
