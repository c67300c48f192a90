"""Show triggers with their last and next runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text

from switchyard.contracts.triggers import AppliedTrigger, Trigger, TriggerRun
from switchyard.contracts.wire import Written, instant
from switchyard.domain.triggers.time_zones import next_start_ms
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.values import print_value
from switchyard_cli.views.wording import elapsed

if TYPE_CHECKING:
    from rich.console import Console


class FiredEvent(Written):
    """The event that `triggers fire` has sent."""

    tenant: str
    trigger: str
    event_id: str


class TriggerView(Written):
    tenant: str
    trigger: Trigger
    enabled: bool
    rule: str | None
    """The name of the trigger's rule; `None` if the rule is missing."""
    last_run: TriggerRun | None
    next_run: datetime | None
    """The next run; `None` for triggers that wait for events, and while the trigger is disabled."""


def view_of(applied: AppliedTrigger, rule: str | None, *, now_ms: int) -> TriggerView:
    return TriggerView(
        tenant=applied.tenant,
        trigger=applied.trigger,
        enabled=applied.enabled,
        rule=rule,
        last_run=applied.last_run,
        next_run=_next_run(applied, now_ms) if applied.enabled else None,
    )


def starts(trigger: Trigger) -> str:
    if trigger.schedule is None:
        return f"events of the {trigger.bus} bus"
    zone = f" in {trigger.time_zone}" if trigger.time_zone else ""
    return f"{trigger.schedule}{zone}"


def print_triggers(views: Sequence[TriggerView], console: Console, *, now_ms: int) -> None:
    if not views:
        console.print("No triggers.")
        return
    table = table_of("trigger", "state", "next run", "last run", giving_way="last job or error")
    for view in views:
        state = _state(view) if view.rule else f"{_state(view)}, rule missing"
        facts = (_in_words(view.next_run), _ago(view.last_run, now_ms), _became(view.last_run))
        table.add_row(clean(view.trigger.name), state, *facts)
    console.print(table)


def print_trigger(view: TriggerView, console: Console, *, now_ms: int) -> None:
    console.print(heading(view.trigger.name))
    last = view.last_run
    facts = {
        "tenant": view.tenant,
        "about": view.trigger.description,
        "starts by": starts(view.trigger),
        "state": _state(view),
        "rule": view.rule or "is missing: apply the trigger again",
        "next run": _in_words(view.next_run),
        "last run": _ago(last, now_ms),
        "last event": last.event_id if last else "",
        "last job": (last.job_id or "") if last else "",
        "last error": (last.error or "") if last else "",
    }
    for name, value in facts.items():
        if value:
            line = Text.assemble((name.ljust(12), "dim"), clean(value))
            console.print(line, soft_wrap=True)
    on = view.trigger.on
    for title, document in (("Pattern", on.pattern if on else None), ("Job", view.trigger.job)):
        if document is not None:
            console.print()
            console.print(heading(title))
            print_value(document, console)


def _state(view: TriggerView) -> str:
    return "enabled" if view.enabled else "disabled"


def _next_run(applied: AppliedTrigger, now_ms: int) -> datetime | None:
    if applied.trigger.schedule is None:
        return None
    since_ms = round(applied.since.timestamp() * 1000)
    schedule, zone = applied.trigger.schedule, applied.trigger.time_zone
    return instant(next_start_ms(schedule, zone, after_ms=now_ms, since_ms=since_ms))


def _in_words(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def _ago(run: TriggerRun | None, now_ms: int) -> str:
    return f"{elapsed(run.at, None, now_ms=now_ms)} ago" if run else ""


def _became(run: TriggerRun | None) -> Text:
    if run is None:
        return Text("")
    return cut_to_fit(run.error, "red") if run.error else Text(clean(run.job_id or ""))
