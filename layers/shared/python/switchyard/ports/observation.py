"""Ports to observe a stage: its workers, what is paused, and which release runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.domain.health.diagnosis import Switch, Workers
    from switchyard.domain.health.presence import Pause, PresentWorker
    from switchyard.domain.health.rollout import Deployment
    from switchyard.domain.scheduling.pools import ChangedWeights


class Presence(Protocol):
    """Remembers workers for some minutes after their last word; decides nothing.

    Each call may raise `Unavailable`.
    """

    def seen(self, worker: PresentWorker) -> None:
        """Store the worker's report, which replaces its earlier ones."""

    def left(self, worker_id: str, *, now_ms: int) -> None:
        """Record that the worker has ended; harmless if it never reported anything."""

    def all(self) -> Sequence[PresentWorker]:
        """Return all by id. Workers may have ended without removing theirs: their time shows it."""


class Inspection(Protocol):
    """Looks and changes nothing. Each look may raise `Unavailable`."""

    def caller(self) -> str:
        """Return the identity of the caller."""

    def stacks(self) -> Mapping[str, str]:
        """The status of each that is there, by its name within the stage."""

    def has_secret(self, name: str) -> bool: ...

    def bootstrap_version(self) -> int | None:
        """Return the version of the CDK's bootstrap stack; `None` if there is no such stack."""

    def workers(self) -> Workers | None:
        """Return the service's workers; `None` if there is no service."""

    def switches(self) -> Sequence[Switch]: ...

    def dead_letters(self) -> Mapping[str, int]:
        """Return the number of messages in each dead-letter queue, by its name."""


class PauseSwitch(Protocol):
    """Whether workers take tasks. What runs, runs on. Each call may raise `Unavailable`."""

    def pause(self, *, now_ms: int, reason: str | None = None) -> Pause:
        """Pause from now on. If consumption is paused already, that pause stays and is returned."""

    def resume(self) -> None:
        """Resume consumption; harmless if it is not paused."""

    def paused(self) -> Pause | None: ...

    def pause_part(self, part: str) -> None:
        """Let no task of a queue, a definition or a tenant start; harmless if it is paused already.

        Raise `Rejected` if too many parts are paused.
        """

    def resume_part(self, part: str) -> None:
        """Harmless if it is not paused."""

    def paused_parts(self) -> frozenset[str]:
        """Return the parts that are paused, named as `part_named` does."""


class SubscriptionStore(Protocol):
    """Remembers which subscriptions of pools operators changed, apart from the stage table."""

    def all(self) -> Mapping[str, ChangedWeights]:
        """Return the changes of each pool that has some, by its name. Raise `Unavailable`."""

    def change(self, pool: str, group: str, weight: int) -> ChangedWeights:
        """Set the weight of one group, 0 to end its subscription; return all of the pool's.

        Changes of other groups made at the same time are not lost. Raise `Unavailable`.
        """


class Deployments(Protocol):
    """Sees from which release of its service this worker was started, and which one is current."""

    def look(self) -> Deployment | None:
        """Return `None` where no service replaces workers. Raise `Unavailable`."""
