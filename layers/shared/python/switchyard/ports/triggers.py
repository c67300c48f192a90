"""Where triggers are kept, and the rules that wake them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from switchyard.contracts.triggers import AppliedTrigger, Bus, Trigger, TriggerRun
from switchyard.domain.tasks.task import Json


class TriggerStore(Protocol):
    """A tenant's triggers, by name."""

    def put(self, tenant: str, trigger: Trigger, *, now_ms: int) -> AppliedTrigger:
        """New ones are enabled; a known one stays as it was, and so does its last run."""

    def find(self, tenant: str, name: str) -> AppliedTrigger | None: ...

    def all(self, tenant: str) -> Sequence[AppliedTrigger]:
        """By name."""

    def switch(self, tenant: str, name: str, *, on: bool, now_ms: int) -> AppliedTrigger:
        """Raise `UnknownTrigger`."""

    def remove(self, tenant: str, name: str, *, now_ms: int) -> None:
        """Raise `UnknownTrigger`. Whoever puts it again begins anew."""

    def note_run(self, tenant: str, name: str, run: TriggerRun) -> None:
        """Unless the trigger is gone, or a later run is noted already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerRule:
    """What EventBridge is to do for a trigger: by a pattern on a bus, or by a schedule."""

    name: str
    bus: Bus
    pattern: Mapping[str, Json] | None = None
    schedule: str | None = None
    enabled: bool
    tenant: str
    trigger: str


class TriggerRules(Protocol):
    """Rules whose events go to the queue of triggers, as `message_template` writes them."""

    def put(self, rule: TriggerRule) -> None:
        """In the place of one of its name on its bus. Raise `RuleRefused`."""

    def has(self, name: str, bus: Bus) -> bool: ...

    def remove(self, name: str, bus: Bus) -> None:
        """Whether it is there or not."""
