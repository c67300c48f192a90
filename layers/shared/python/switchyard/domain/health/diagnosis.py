"""Judges the parts of a stage: right or wrong, and what to do about it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from switchyard.domain.health.presence import Pause
from switchyard.domain.health.rollout import RolloutState
from switchyard.domain.ids import SMOKE_TENANT

STACKS: Final = (
    "infrastructure",
    "event",
    "dispatcher",
    "health-check",
    "producer-api",
    "consumer",
)
ROLLED_BACK: Final = "UPDATE_ROLLBACK_COMPLETE"
OFF_ON_PURPOSE: Final = "Off in this stage."
"""The beginning of the description of a schedule that is off in the stage."""


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    subject: str
    level: Level
    said: str
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    wanted: int
    running: int
    image: str
    image_exists: bool


class SwitchKind(StrEnum):
    SUBSCRIPTION = "subscription"
    """Brings events to a queue, or a queue's messages to a function."""
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch that can be turned off by hand and then is easily forgotten."""

    name: str
    kind: SwitchKind
    on: bool


def judge_stacks(statuses: Mapping[str, str], *, stage: str) -> Finding:
    """Judge the statuses by stack; stacks that do not exist are absent."""
    deploy = f"make deploy STAGE={stage}"
    missing = [name for name in STACKS if name not in statuses]
    if missing:
        return Finding("stacks", Level.FAIL, f"not deployed: {', '.join(missing)}", deploy)
    broken = {n: s for n, s in statuses.items() if not _is_usable(s)}
    if broken:
        return Finding("stacks", Level.FAIL, _reported(broken), deploy)
    unsettled = {n: s for n, s in statuses.items() if s == ROLLED_BACK or _is_changing(s)}
    if unsettled:
        return Finding("stacks", Level.WARN, _reported(unsettled), deploy)
    return Finding("stacks", Level.OK, f"{len(statuses)} deployed")


def judge_claude(*, found: bool, secret: str) -> Finding:
    if found:
        return Finding("Claude", Level.OK, f"the secret {secret} is there")
    key = '"$ANTHROPIC_API_KEY"'
    create = f"aws secretsmanager create-secret --name {secret} --secret-string {key}"
    return Finding("Claude", Level.FAIL, f"no secret {secret}: no worker can start", create)


def judge_slack(*, found: bool, secret: str) -> Finding:
    if found:
        return Finding("Slack", Level.OK, f"the secret {secret} is there")
    said = f"no secret {secret}: alarms are in CloudWatch and in the logs alone"
    create = f"aws secretsmanager create-secret --name {secret} --secret-string xoxb-…"
    return Finding("Slack", Level.WARN, said, create)


def judge_webhooks(*, found: bool, secret: str, create: str) -> Finding:
    """Judge the secret that webhooks are signed with; `create` is the command that creates it."""
    if found:
        return Finding("webhooks", Level.OK, f"the secret {secret} is there")
    said = f"no secret {secret}: no job's webhook is called"
    return Finding("webhooks", Level.WARN, said, create)


def judge_api_keys(tenants: Collection[str], *, option: str) -> Finding:
    """Warn of a stage whose keys may still be where they were before they had their own table."""
    others = [tenant for tenant in tenants if tenant != SMOKE_TENANT]
    if others:
        noun = "tenant" if len(others) == 1 else "tenants"
        return Finding("API keys", Level.OK, f"of {len(others)} {noun}")
    return Finding(
        "API keys",
        Level.WARN,
        "no tenant has a key",
        f"switchyard keys move{option} if this stage is older than the table of keys; "
        f"else switchyard keys issue TENANT{option}",
    )


def judge_workers(workers: Workers | None, *, stage: str) -> list[Finding]:
    deploy = f"make deploy STAGE={stage}"
    if workers is None:
        return [Finding("workers", Level.FAIL, "there is no service", deploy)]
    return [_judge_image(workers, deploy), _judge_running(workers, stage)]


def judge_switches(switches: Sequence[Switch], *, kind: SwitchKind) -> Finding:
    asked = [switch for switch in switches if switch.kind is kind]
    subject = f"{kind}s"
    off = [switch.name for switch in asked if not switch.on]
    if off:
        turn_on = "aws events enable-rule, or aws lambda update-event-source-mapping --enabled"
        return Finding(subject, Level.FAIL, f"turned off: {', '.join(off)}", turn_on)
    if not asked:
        return Finding(subject, Level.FAIL, "there are none", "deploy the stage again")
    return Finding(subject, Level.OK, f"{len(asked)} on")


def judge_dead_letters(waiting: Mapping[str, int], *, option: str) -> Finding:
    """Judge the messages in each dead-letter queue. Functions empty these within minutes."""
    if not waiting:
        return Finding("dead letters", Level.FAIL, "there are no queues", "deploy the stage again")
    full = [f"{count} in {queue}" for queue, count in waiting.items() if count]
    if full:
        look = f"switchyard dlq list{option}"
        return Finding("dead letters", Level.WARN, ", ".join(full), look)
    return Finding("dead letters", Level.OK, "all queues are empty")


def judge_pool(
    name: str, *, groups: Sequence[str], queue: str, workers: int, waiting: int, option: str
) -> Finding:
    """Report a pool: what it serves, who works in it and what waits in its queue."""
    subject = f"pool {name}"
    if not groups:
        fix = f"switchyard pools subscribe {name} GROUP{option}"
        return Finding(subject, Level.WARN, "it serves no group, so it has nothing to do", fix)
    there = f"{workers} {'worker' if workers == 1 else 'workers'}"
    said = f"serves {', '.join(groups)}; {there}, {waiting} waiting in {queue}"
    if waiting and not workers:
        look = f"switchyard pools show {name}{option}"
        return Finding(subject, Level.WARN, f"{said}: no worker has come yet", look)
    return Finding(subject, Level.OK, said)


def judge_consumption(pause: Pause | None, *, since: str, option: str) -> Finding:
    """Report a pause; `since` is its beginning as people read it."""
    if pause is None:
        return Finding("consumption", Level.OK, "workers take tasks")
    reason = f": {pause.reason}" if pause.reason else ""
    said = f"paused since {since}{reason}"
    return Finding("consumption", Level.WARN, said, f"switchyard resume{option}")


def judge_rollout(state: RolloutState, *, said: str, option: str) -> Finding:
    """Judge a rollout; `said` describes the state as people read it."""
    if not state.replaced:
        return Finding("rollout", Level.OK, said)
    return Finding("rollout", Level.WARN, said, f"switchyard rollout --watch{option}")


def _judge_image(workers: Workers, deploy: str) -> Finding:
    if workers.image_exists:
        return Finding("image", Level.OK, workers.image)
    return Finding("image", Level.FAIL, f"{workers.image} is not in the registry", deploy)


def _judge_running(workers: Workers, stage: str) -> Finding:
    said = f"{workers.running} of {workers.wanted} run"
    why = (
        f"aws ecs describe-services --cluster switchyard-{stage}-workers "
        f"--services switchyard-{stage}-worker --query 'services[0].events[:5]'"
    )
    if workers.wanted == 0:
        return Finding("workers", Level.OK, "none is wanted while no task waits")
    if workers.running == 0:
        return Finding("workers", Level.FAIL, said, why)
    if workers.running < workers.wanted:
        return Finding("workers", Level.WARN, said, why)
    return Finding("workers", Level.OK, said)


def _is_changing(status: str) -> bool:
    return status.endswith("_IN_PROGRESS")


def _is_usable(status: str) -> bool:
    usable = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE", ROLLED_BACK}
    return status in usable or _is_changing(status)


def _reported(statuses: Mapping[str, str]) -> str:
    return ", ".join(f"{name} is {status}" for name, status in statuses.items())
