"""Decides how a release replaces the workers of the one before it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from switchyard.domain.health.presence import Pause, PresentWorker

SETTLING_SECONDS: Final = 10 * 60
"""The time that an attempt may need after its time limit: its child is killed, its result is
uploaded and tried again for minutes if need be, its outcome is stored."""
LEAST_MINUTES: Final = 1
MOST_MINUTES: Final = 2880
"""https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A deployment of ECS. Releases are revisions of a task definition: `family:revision`."""

    own: str
    """The release that the worker was started from."""
    current: str
    """The release that the service wants to run."""

    @property
    def replaced(self) -> bool:
        return self.own != self.current


class Hold(StrEnum):
    """The reasons why a worker takes no task."""

    PAUSED = "paused"
    REPLACED = "replaced"
    SICK = "sick"


def decide_hold(
    *, pause: Pause | None, deployment: Deployment | None, sick: str | None = None
) -> Hold | None:
    """Return `None` when the worker may take tasks; an unknown deployment changes nothing."""
    if sick is not None:
        return Hold.SICK
    if deployment is not None and deployment.replaced:
        return Hold.REPLACED
    return Hold.PAUSED if pause is not None else None


def minutes_to_protect(remaining_seconds: float) -> int:
    """Return for how long to ask for protection, in the whole minutes that ECS accepts."""
    wanted = math.ceil((max(0.0, remaining_seconds) + SETTLING_SECONDS) / 60)
    return min(max(wanted, LEAST_MINUTES), MOST_MINUTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutState:
    """The workers of a stage and the release that they should run."""

    current: str | None
    """The current release; `None` when the service does not say."""
    workers: Sequence[PresentWorker]

    @property
    def replaced(self) -> list[PresentWorker]:
        return [worker for worker in self.workers if is_replaced(worker, self.current)]

    @property
    def waits_for_tasks(self) -> int:
        return sum(worker.busy for worker in self.replaced)

    @property
    def until_ms(self) -> int | None:
        """Return when the attempts of replaced workers end at the latest, if that is known."""
        ends = [worker.busy_until_ms for worker in self.replaced if worker.busy]
        known = [end for end in ends if end is not None]
        return max(known) if known and len(known) == len(ends) else None


def is_replaced(worker: PresentWorker, current: str | None) -> bool:
    if worker.draining:
        return True
    return current is not None and worker.release is not None and worker.release != current


def describe_rollout(state: RolloutState, *, until: str) -> str:
    """Return a sentence without its full stop; `until` is the end in words, or empty."""
    old = len(state.replaced)
    if not old:
        return "all workers run the current release" if state.workers else "no worker is there"
    workers = f"{old} {_plural('worker', old)} of an older release"
    tasks = state.waits_for_tasks
    if not tasks:
        return f"{workers} {'is' if old == 1 else 'are'} idle and will be stopped"
    limit = f", at most until {until}" if until else ""
    return f"{workers} {_verb('finish', old)} {tasks} {_plural('task', tasks)}{limit}"


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _verb(verb: str, count: int) -> str:
    return f"{verb}es" if count == 1 else verb
