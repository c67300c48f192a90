"""Applies, reads, switches, removes and tries out triggers for operators."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.contracts.triggers import (
    BUSES,
    AppliedTrigger,
    Bus,
    BusEvent,
    Trigger,
    message_template,
)
from switchyard.contracts.triggers.checks import never_fires
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.access.tenants import channel_problems
from switchyard.domain.errors import Conflict, InvalidDefinition, InvalidTrigger, Problem
from switchyard.domain.jobs.graph import NOT_REGISTERED
from switchyard.domain.text import did_you_mean
from switchyard.domain.triggers.time_zones import rule_schedule
from switchyard.domain.triggers.triggers import (
    RuleRefused,
    UnknownTrigger,
    of_this_tenant,
    rule_name,
)
from switchyard.ports import (
    Clock,
    DefinitionStore,
    QueueSender,
    TenantStore,
    TriggerRule,
    TriggerRules,
    TriggerStore,
)
from switchyard.usecases.definitions.put_definition import accepted_definition, put_definition

MAX_COMPARED: Final = 1_000
"""The most registered definitions that a mistyped name is compared with."""


@dataclass(frozen=True, kw_only=True)
class TriggerOperator:
    stage: str
    store: TriggerStore
    tenants: TenantStore
    definitions: DefinitionStore
    ceilings: Ceilings
    rules: TriggerRules
    queue_sender: QueueSender
    queue: str
    """The name of the queue of triggers."""
    clock: Clock

    def apply(self, tenant: str, trigger: Trigger) -> AppliedTrigger:
        """Add it, or change it. Again after a crash, it does what is left.

        Raise `InvalidTrigger` with everything that is wrong, or `RuleRefused`.

        The rule comes first: if it is refused, everything is as it was. But a new one is enabled
        only once the trigger is there, as events that come before it would be dropped.
        """
        now_ms = self.clock.now_ms()
        problems = self.problems_with(tenant, trigger)
        if problems:
            raise InvalidTrigger(problems)
        known = self.store.find(tenant, trigger.name)
        enabled = known is not None and known.trigger.bus == trigger.bus and known.enabled
        self.rules.put(self._rule(tenant, trigger, enabled=enabled))
        applied = self.store.put(tenant, trigger, now_ms=now_ms)
        if applied.enabled != enabled:
            self.rules.put(self._rule(tenant, trigger, enabled=applied.enabled))
        self._remove_rules(applied, but=trigger.bus)
        return applied

    def problems_with(
        self, tenant: str, trigger: Trigger, *, brought: Collection[str] = ()
    ) -> list[Problem]:
        """Return why the trigger would be refused; `brought` are definitions still to register."""
        return [
            *never_fires(trigger, now_ms=self.clock.now_ms()),
            *self._channel_problems(tenant, trigger),
            *self._unknown_definitions(tenant, trigger, brought),
            *_pattern_problems(tenant, trigger),
        ]

    def problems_with_definition(self, name: str, definition: TaskDefinition) -> Sequence[Problem]:
        """Return why the stage would not register the definition."""
        try:
            accepted_definition(name, definition, self.ceilings)
        except InvalidDefinition as error:
            return error.problems
        return ()

    def register(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        """Register a definition that triggers name. Raise `InvalidDefinition`."""
        return put_definition(
            tenant, name, definition, definitions=self.definitions, ceilings=self.ceilings
        )

    def find(self, tenant: str, name: str) -> AppliedTrigger:
        applied = self.store.find(tenant, name)
        if applied is None:
            raise UnknownTrigger(tenant, name)
        return applied

    def all(self, tenant: str) -> Sequence[AppliedTrigger]:
        return self.store.all(tenant)

    def rule_of(self, applied: AppliedTrigger) -> str | None:
        """The name of its rule, if that is there."""
        name = self._name(applied)
        return name if self.rules.has(name, applied.trigger.bus) else None

    def switch(self, tenant: str, name: str, *, on: bool) -> AppliedTrigger:
        """The trigger decides; its rule only saves deliveries that would be dropped."""
        applied = self.store.switch(tenant, name, on=on, now_ms=self.clock.now_ms())
        self.rules.put(self._rule(tenant, applied.trigger, enabled=on))
        return applied

    def remove(self, tenant: str, name: str) -> None:
        """Remove the rule first: it could not be found once the trigger is gone."""
        applied = self.find(tenant, name)
        self._remove_rules(applied)
        self.store.remove(tenant, name, now_ms=self.clock.now_ms())

    def fire(self, tenant: str, name: str, *, event: BusEvent, text: str) -> None:
        """Send the event to the trigger as its rule would; `text` is the whole event."""
        if not self.find(tenant, name).enabled:
            raise Conflict(f"the trigger {name!r} is disabled and would drop the event {event.id}")
        self.queue_sender.send(self.queue, message_template(tenant, name, text, by_hand=True), {})

    def _name(self, applied: AppliedTrigger) -> str:
        return rule_name(self.stage, applied.tenant, applied.trigger.name)

    def _remove_rules(self, applied: AppliedTrigger, *, but: Bus | None = None) -> None:
        """Remove the rule from both buses: an interrupted move may have left one behind."""
        for bus in BUSES:
            if bus != but:
                self.rules.remove(self._name(applied), bus)

    def _rule(self, tenant: str, trigger: Trigger, *, enabled: bool) -> TriggerRule:
        return TriggerRule(
            name=rule_name(self.stage, tenant, trigger.name),
            bus=trigger.bus,
            pattern=self._pattern(tenant, trigger),
            schedule=self._rule_schedule(trigger),
            local_time=trigger.time_zone is not None,
            enabled=enabled,
            tenant=tenant,
            trigger=trigger.name,
        )

    def _rule_schedule(self, trigger: Trigger) -> str | None:
        if trigger.schedule is None:
            return None
        now_ms = self.clock.now_ms()
        return rule_schedule(trigger.schedule, trigger.time_zone, now_ms=now_ms)

    def _channel_problems(self, tenant: str, trigger: Trigger) -> list[Problem]:
        """Refuse a channel that the tenant's jobs may not name, unless it depends on the event."""
        if trigger.channel is None:
            return []
        problems = channel_problems(trigger.channel, self.tenants.find(tenant), tenant=tenant)
        return [Problem(("job", *problem.path), problem.message) for problem in problems]

    def _unknown_definitions(
        self, tenant: str, trigger: Trigger, brought: Collection[str]
    ) -> list[Problem]:
        known = {*brought, *self.definitions.latest(tenant, sorted(trigger.definitions))}
        if trigger.definitions <= known:
            return []
        registered = islice(self.definitions.all(tenant), MAX_COMPARED)
        names = [*brought, *(definition.name for definition in registered)]
        return [
            Problem(place, f"{name!r} {NOT_REGISTERED}{did_you_mean(name, names)}")
            for place, name in trigger.named_definitions
            if name not in known
        ]

    def _pattern(self, tenant: str, trigger: Trigger) -> dict[str, object] | None:
        if trigger.on is None:
            return None
        if trigger.on.bus == "default":
            return trigger.on.pattern
        pattern = of_this_tenant(trigger.on.pattern, tenant)
        if isinstance(pattern, Problem):
            raise RuleRefused(str(pattern))
        return pattern


def _pattern_problems(tenant: str, trigger: Trigger) -> list[Problem]:
    if trigger.on is None or trigger.on.bus == "default":
        return []
    pattern = of_this_tenant(trigger.on.pattern, tenant)
    if not isinstance(pattern, Problem):
        return []
    return [Problem(("on", "pattern", *pattern.path), pattern.message)]
