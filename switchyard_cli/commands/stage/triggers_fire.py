"""`triggers fire`: what a trigger makes of an event, before there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from switchyard_cli.commands.stage.triggers import (
    NameArgument,
    OperatorStageOption,
    TenantOption,
)
from switchyard_cli.connections.trigger_operator import tenants_triggers
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results

if TYPE_CHECKING:
    from switchyard.contracts.triggers import BusEvent

EventOption = Annotated[
    Path | None,
    typer.Option(
        "--event", help="The event, in JSON or YAML. What EventBridge adds may be left out."
    ),
]


def fire(
    context: typer.Context,
    name: NameArgument,
    *,
    event: EventOption = None,
    tenant: TenantOption = None,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Try a trigger out: send it an event, as its rule would. The pattern is not asked.

    A schedule needs no event. One with an id of its own starts one job, however often it is sent.
    """
    with tenants_triggers(context, stage, tenant) as (operator, owner):
        if event is None and operator.find(owner, name).trigger.on:
            raise BadInput(f"{name} waits for events: give it one with --event FILE.")
        document = _whole(context, event)
        envelope = _envelope(document, event)
        operator.fire(owner, name, event=envelope, text=json.dumps(document))
    if as_json:
        from switchyard_cli.views.stage.triggers import FiredEvent

        print_json(FiredEvent(tenant=owner, trigger=name, event_id=envelope.id))
        return
    results().print(f"Sent to {name}: the event {envelope.id}.", soft_wrap=True)
    hint = f"See what becomes of it with `switchyard triggers show {name}{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)


def _whole(context: typer.Context, file: Path | None) -> dict[str, Any]:
    """Return the event with what EventBridge adds to one, unless the file says it."""
    from switchyard.contracts.wire import instant
    from switchyard_cli.files.document import read_document

    services = services_of(context)
    given = read_document(file).value if file else {}
    if not isinstance(given, dict):
        raise BadInput(f"{file} is no event: it must be an object with fields.")
    added: dict[str, Any] = {
        "version": "0",
        "id": services.new_key(),
        "detail-type": "Scheduled Event" if file is None else "",
        "source": "aws.events" if file is None else "switchyard.cli",
        "account": "",
        "time": f"{instant(services.clock.now_ms()):%Y-%m-%dT%H:%M:%SZ}",
        "region": "",
        "resources": [],
        "detail": {},
    }
    return added | given


def _envelope(document: dict[str, Any], file: Path | None) -> BusEvent:
    from pydantic import ValidationError

    from switchyard.contracts.triggers import BusEvent

    try:
        return BusEvent.model_validate(document)
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadInput(f"{file}: {field} is nothing that EventBridge would say.") from error
