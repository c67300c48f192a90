"""Manages triggers for their tenants.

Events of the account's default bus are of everybody, so that operators alone apply triggers there.
"""

import json
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from switchyard.contracts.problems import validation_problems
from switchyard.contracts.triggers import (
    AppliedTrigger,
    BusEvent,
    FireTrigger,
    RegisteredTrigger,
    Trigger,
    TriggerContent,
    TriggerFired,
    TriggerList,
    whole_event,
)
from switchyard.contracts.triggers.checks import trigger_problems
from switchyard.domain.errors import Conflict, InvalidTrigger, Problem
from switchyard.domain.ids import TRIGGER_NAME
from switchyard.domain.triggers.triggers import UnknownTrigger
from switchyard.ports import Clock, Ids
from switchyard.usecases.triggers.operate_triggers import TriggerOperator

MAX_TRIGGERS: Final = 20
"""The most triggers of one tenant: EventBridge allows 300 rules on a bus, which tenants share."""

MAX_EVENT_BYTES: Final = 200_000
"""The largest event that a trigger is fired with; EventBridge takes 256 KB."""


@dataclass(frozen=True, kw_only=True)
class TenantTriggers:
    operator: TriggerOperator
    clock: Clock
    ids: Ids

    def all(self, tenant: str) -> TriggerList:
        return TriggerList(triggers=tuple(map(self._view, self.operator.all(tenant))))

    def read(self, tenant: str, name: str) -> RegisteredTrigger:
        return self._view(self._find(tenant, name))

    def put(self, tenant: str, name: str, content: TriggerContent) -> RegisteredTrigger:
        """Raise `InvalidTrigger`, `RuleRefused`, or `Conflict` if there are too many."""
        trigger = _valid(name, content)
        known = {one.trigger.name for one in self.operator.all(tenant)}
        if name in known:
            self._own(tenant, name)
        elif len(known) >= MAX_TRIGGERS:
            raise Conflict(f"there are {len(known)} triggers, and no more than {MAX_TRIGGERS} fit")
        return self._view(self.operator.apply(tenant, trigger))

    def switch(self, tenant: str, name: str, *, on: bool) -> RegisteredTrigger:
        self._own(tenant, name)
        return self._view(self.operator.switch(tenant, name, on=on))

    def delete(self, tenant: str, name: str) -> RegisteredTrigger:
        """Remove it, and return what it was. Jobs that it has started go on."""
        deleted = self._own(tenant, name)
        self.operator.remove(tenant, name)
        return self._view(deleted)

    def fire(self, tenant: str, name: str, request: FireTrigger) -> TriggerFired:
        """Send it an event as its rule would; neither its pattern nor its schedule is asked."""
        if request.event is None and self._find(tenant, name).trigger.on:
            raise InvalidTrigger([Problem(("event",), "is needed: the trigger waits for events")])
        document = whole_event(
            request.event,
            event_id=self.ids.new_secret(),
            now_ms=self.clock.now_ms(),
            source="switchyard.api",
        )
        event, text = _envelope(document), json.dumps(document)
        if len(text) > MAX_EVENT_BYTES:
            raise InvalidTrigger([Problem(("event",), f"has more than {MAX_EVENT_BYTES:,} bytes")])
        self.operator.fire(tenant, name, event=event, text=text)
        return TriggerFired(tenant=tenant, trigger=name, event_id=event.id)

    def _find(self, tenant: str, name: str) -> AppliedTrigger:
        if not TRIGGER_NAME.fullmatch(name):
            raise UnknownTrigger(tenant, name)
        return self.operator.find(tenant, name)

    def _own(self, tenant: str, name: str) -> AppliedTrigger:
        """Raise `Conflict` for one that only operators may change."""
        applied = self._find(tenant, name)
        if applied.trigger.on and applied.trigger.on.bus == "default":
            raise Conflict(f"{name} is on the account's default bus: operators alone change it")
        return applied

    def _view(self, applied: AppliedTrigger) -> RegisteredTrigger:
        return RegisteredTrigger.of(applied, now_ms=self.clock.now_ms())


def _valid(name: str, content: TriggerContent) -> Trigger:
    try:
        trigger = content.named(name)
    except ValidationError as error:
        raise InvalidTrigger(validation_problems(map(dict, error.errors()))) from error
    problems = trigger_problems(trigger)
    if trigger.on and trigger.on.bus == "default":
        reason = "must be switchyard: operators alone apply triggers to the account's default bus"
        problems = [Problem(("on", "bus"), reason), *problems]
    if problems:
        raise InvalidTrigger(problems)
    return trigger


def _envelope(document: dict[str, object]) -> BusEvent:
    try:
        return BusEvent.model_validate(document)
    except ValidationError as error:
        problems = validation_problems(map(dict, error.errors()))
        within = [Problem(("event", *problem.path), problem.message) for problem in problems]
        raise InvalidTrigger(within) from error
