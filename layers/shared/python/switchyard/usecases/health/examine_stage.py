"""Examines a stage: every look becomes a finding, also one that is refused."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from switchyard.contracts.wire import instant
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.diagnosis import (
    Finding,
    Level,
    SwitchKind,
    judge_api_keys,
    judge_claude,
    judge_consumption,
    judge_dead_letters,
    judge_pool,
    judge_rollout,
    judge_slack,
    judge_stacks,
    judge_switches,
    judge_webhooks,
    judge_workers,
)
from switchyard.domain.health.prerequisites import LOG_IN
from switchyard.domain.health.presence import Pause
from switchyard.domain.health.rollout import RolloutState, describe_rollout
from switchyard.ports import Inspection
from switchyard.usecases.scheduling.survey_pools import PoolState

NO_ACCESS = "ask for read access to it in the stage's account"


@dataclass(frozen=True, kw_only=True)
class Examiner:
    stage: str
    option: str
    """The option that a suggested command needs to reach the stage."""
    inspection: Inspection
    paused: Callable[[], Pause | None]
    """Whether consumption is. Raises `Unavailable`."""
    rollout: Callable[[], RolloutState]
    """Returns the releases that the workers run. Raises `Unavailable`."""
    tenants_with_keys: Callable[[], Collection[str]]
    """The tenants that have API keys, revoked or not. Raises `Unavailable`."""
    pools: Callable[[], Sequence[PoolState]] = tuple
    """The pools as they are now. Raises `Unavailable`."""

    def of_account(self) -> list[Finding]:
        """Examine what only a stage on AWS has; the first finding is about the credentials."""
        try:
            caller = self.inspection.caller()
        except Unavailable as error:
            return [Finding("credentials", Level.FAIL, str(error), LOG_IN)]
        claude, slack = (f"switchyard/{self.stage}/{name}" for name in ("claude", "slack"))
        has_secret = self.inspection.has_secret
        return [
            Finding("credentials", Level.OK, caller),
            *_look("Claude", lambda: [judge_claude(found=has_secret(claude), secret=claude)]),
            *_look("Slack", lambda: [judge_slack(found=has_secret(slack), secret=slack)]),
            *_look("workers", lambda: judge_workers(self.inspection.workers(), stage=self.stage)),
        ]

    def of_stacks(self) -> list[Finding]:
        """Examine the stacks, and what they made unless the stage is not deployed."""
        try:
            statuses = self.inspection.stacks()
        except Unavailable as error:
            return [_unseen("stacks", error), *self._of_what_they_made()]
        judged = judge_stacks(statuses, stage=self.stage)
        return [judged, *self._of_what_they_made()] if statuses else [judged]

    def _of_what_they_made(self) -> list[Finding]:
        return [
            *_look("API keys", self._api_keys),
            *_look("webhooks", self._webhooks),
            *_look("switches", self._switches),
            *_look("dead letters", self._dead_letters),
            *_look("consumption", self._pause_switch),
            *_look("pools", self._pools),
            *_look("rollout", self._rollout),
        ]

    def _api_keys(self) -> list[Finding]:
        return [judge_api_keys(self.tenants_with_keys(), option=self.option)]

    def _webhooks(self) -> list[Finding]:
        secret = f"switchyard/{self.stage}/webhooks"
        create = (
            f"aws secretsmanager create-secret --name {secret} "
            '--secret-string "$(openssl rand -hex 32)"'
            if self.option
            else "switchyard up"
        )
        found = self.inspection.has_secret(secret)
        return [judge_webhooks(found=found, secret=secret, create=create)]

    def _switches(self) -> list[Finding]:
        switches = self.inspection.switches()
        return [judge_switches(switches, kind=kind) for kind in SwitchKind]

    def _dead_letters(self) -> list[Finding]:
        return [judge_dead_letters(self.inspection.dead_letters(), option=self.option)]

    def _pools(self) -> list[Finding]:
        return [
            judge_pool(
                state.pool.name,
                groups=tuple(map(str, state.subscriptions)),
                queue=state.queue,
                workers=len(state.workers),
                waiting=state.depth.waiting,
                option=self.option,
            )
            for state in self.pools()
        ]

    def _pause_switch(self) -> list[Finding]:
        pause = self.paused()
        since = f"{instant(pause.since_ms):%Y-%m-%d %H:%M} UTC" if pause else ""
        return [judge_consumption(pause, since=since, option=self.option)]

    def _rollout(self) -> list[Finding]:
        state = self.rollout()
        until = instant(state.until_ms)
        said = describe_rollout(state, until=f"{until:%H:%M} UTC" if until else "")
        return [judge_rollout(state, said=said, option=self.option)]


def _look(subject: str, look: Callable[[], Sequence[Finding]]) -> Sequence[Finding]:
    try:
        return look()
    except Unavailable as error:
        return [_unseen(subject, error)]


def _unseen(subject: str, error: Unavailable) -> Finding:
    return Finding(subject, Level.FAIL, str(error), NO_ACCESS)
