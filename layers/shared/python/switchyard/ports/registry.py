"""Ports that store what tenants have registered: task definitions and triggers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
    from switchyard.contracts.triggers import AppliedTrigger, Bus, Trigger, TriggerRun
    from switchyard.domain.tasks.task import Json


class DefinitionStore(Protocol):
    """Versioned task definitions; a version never changes."""

    def put(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        """A new version; the same content as the latest keeps its version. Raise `Conflict`.

        What was deleted is registered again, with the next number.
        """

    def latest(self, tenant: str, names: Iterable[str]) -> Mapping[str, RegisteredDefinition]:
        """Return the latest versions of those of `names` that exist."""

    def version(self, tenant: str, name: str, version: int) -> RegisteredDefinition:
        """Return one version, of a deleted definition too. Raise `UnknownDefinition`."""

    def all(self, tenant: str, *, after: str | None = None) -> Iterator[RegisteredDefinition]:
        """The latest of each, by name, from the first one behind `after` on."""

    def delete(self, tenant: str, name: str, *, now_ms: int) -> RegisteredDefinition:
        """Delete and return a definition: it is neither listed nor the latest any more.

        Its versions stay: a job that pinned one in the same moment runs all the same. Raise
        `UnknownDefinition`, or `Conflict` when it was changed at the same time.
        """


class TriggerStore(Protocol):
    """A tenant's triggers, by name."""

    def put(self, tenant: str, trigger: Trigger, *, now_ms: int) -> AppliedTrigger:
        """Store the trigger. A new one is enabled; a known one keeps its state and last run."""

    def find(self, tenant: str, name: str) -> AppliedTrigger | None: ...

    def all(self, tenant: str) -> Sequence[AppliedTrigger]:
        """Return the tenant's triggers, ordered by name."""

    def switch(self, tenant: str, name: str, *, on: bool, now_ms: int) -> AppliedTrigger:
        """Raise `UnknownTrigger`."""

    def remove(self, tenant: str, name: str, *, now_ms: int) -> None:
        """Remove the trigger; putting it again begins anew. Raise `UnknownTrigger`."""

    def note_run(self, tenant: str, name: str, run: TriggerRun) -> None:
        """Note a run, unless the trigger is gone, or a later run is noted already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerRule:
    """A trigger's rule on EventBridge: a pattern on a bus, or a schedule."""

    name: str
    bus: Bus
    pattern: Mapping[str, Json] | None = None
    schedule: str | None = None
    local_time: bool = False
    """Whether the schedule is one of candidates, of which the trigger's time zone decides."""
    enabled: bool
    tenant: str
    trigger: str


class TriggerRules(Protocol):
    """Rules whose events go to the queue of triggers, as `message_template` writes them."""

    def put(self, rule: TriggerRule) -> None:
        """Put the rule in the place of one of its name on its bus. Raise `RuleRefused`."""

    def has(self, name: str, bus: Bus) -> bool: ...

    def remove(self, name: str, bus: Bus) -> None:
        """Whether it is there or not."""
