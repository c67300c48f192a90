"""`triggers fire`: what a trigger makes of an event, before there is one."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from cli.commands.triggers import NameArgument, OperatorStageOption, TenantOption
from cli.errors import BadInput
from cli.files.document import read_document
from cli.options import JsonOption
from cli.outside import outside_of
from cli.stages import Stage
from cli.terminal import notices, print_json, results
from cli.triggering import operator_of, tenant_for
from switchyard.contracts.jobs import instant
from switchyard.contracts.triggers import BusEvent
from switchyard.contracts.wire import Written

EventOption = Annotated[
    Path | None,
    typer.Option(
        "--event", help="The event, in JSON or YAML. What EventBridge adds may be left out."
    ),
]


class FiredEvent(Written):
    tenant: str
    trigger: str
    event_id: str


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
    owner = tenant_for(context, stage, tenant)
    with operator_of(context, stage) as operator:
        if event is None and operator.find(owner, name).trigger.on:
            raise BadInput(f"{name} waits for events: give it one with --event FILE.")
        document = _whole(context, event)
        envelope = _envelope(document, event)
        operator.fire(owner, name, event=envelope, text=json.dumps(document))
    if as_json:
        print_json(FiredEvent(tenant=owner, trigger=name, event_id=envelope.id))
        return
    results().print(f"Sent to {name}: the event {envelope.id}.", soft_wrap=True)
    hint = f"See what becomes of it with `switchyard triggers show {name}{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)


def _whole(context: typer.Context, file: Path | None) -> dict[str, Any]:
    """With what EventBridge adds to an event, unless the file says it."""
    outside = outside_of(context)
    given = read_document(file).value if file else {}
    if not isinstance(given, dict):
        raise BadInput(f"{file} is no event: it must be an object with fields.")
    added: dict[str, Any] = {
        "version": "0",
        "id": outside.new_key(),
        "detail-type": "Scheduled Event" if file is None else "",
        "source": "aws.events" if file is None else "switchyard.cli",
        "account": "",
        "time": f"{instant(outside.clock.now_ms()):%Y-%m-%dT%H:%M:%SZ}",
        "region": "",
        "resources": [],
        "detail": {},
    }
    return added | given


def _envelope(document: dict[str, Any], file: Path | None) -> BusEvent:
    try:
        return BusEvent.model_validate(document)
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadInput(f"{file}: {field} is nothing that EventBridge would say.") from error
