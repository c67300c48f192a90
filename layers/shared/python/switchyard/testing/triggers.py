"""Triggers and their rules, in memory."""

import threading
from collections.abc import Sequence

from switchyard.contracts.triggers import AppliedTrigger, Bus, Trigger, TriggerRun
from switchyard.contracts.wire import instant
from switchyard.domain.triggers.triggers import UnknownTrigger
from switchyard.ports import TriggerRule


class MemoryTriggerStore:
    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._applied: dict[tuple[str, str], AppliedTrigger] = {}

    def put(self, tenant: str, trigger: Trigger, *, now_ms: int) -> AppliedTrigger:
        with self._lock:
            known = self._applied.get((tenant, trigger.name))
            return self._keep(
                AppliedTrigger(
                    tenant=tenant,
                    trigger=trigger,
                    enabled=known.enabled if known else True,
                    since=instant(now_ms),
                    last_run=known.last_run if known else None,
                )
            )

    def find(self, tenant: str, name: str) -> AppliedTrigger | None:
        return self._applied.get((tenant, name))

    def all(self, tenant: str) -> Sequence[AppliedTrigger]:
        return [self._applied[key] for key in sorted(self._applied) if key[0] == tenant]

    def switch(self, tenant: str, name: str, *, on: bool, now_ms: int) -> AppliedTrigger:
        with self._lock:
            changes = {"enabled": on, "since": instant(now_ms)}
            return self._keep(self._known(tenant, name).model_copy(update=changes))

    def remove(self, tenant: str, name: str, *, now_ms: int) -> None:  # noqa: ARG002
        with self._lock:
            self._known(tenant, name)
            del self._applied[tenant, name]

    def note_run(self, tenant: str, name: str, run: TriggerRun) -> None:
        with self._lock:
            known = self._applied.get((tenant, name))
            if known and (known.last_run is None or known.last_run.at <= run.at):
                self._keep(known.model_copy(update={"last_run": run}))

    def _known(self, tenant: str, name: str) -> AppliedTrigger:
        if (tenant, name) not in self._applied:
            raise UnknownTrigger(tenant, name)
        return self._applied[tenant, name]

    def _keep(self, applied: AppliedTrigger) -> AppliedTrigger:
        self._applied[applied.tenant, applied.trigger.name] = applied
        return applied


class MemoryTriggerRules:
    def __init__(self) -> None:
        self.rules: dict[tuple[str, Bus], TriggerRule] = {}

    def put(self, rule: TriggerRule) -> None:
        self.rules[rule.name, rule.bus] = rule

    def has(self, name: str, bus: Bus) -> bool:
        return (name, bus) in self.rules

    def remove(self, name: str, bus: Bus) -> None:
        self.rules.pop((name, bus), None)
