"""`dlq redrive`: send parked messages again; with a canary, one first and then the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard_cli.commands.stage.dlq import (
    MOST_AT_ONCE,
    OperatorStageOption,
    chosen_of,
    parked_messages_of,
    print_done,
)
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import SENT_IN_VAIN, BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, notices
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.contracts.parked_messages import ParkedMessage
    from switchyard.usecases.dead_letters.parked_messages import ParkedMessages
    from switchyard.usecases.dead_letters.watch_redrive import WatchedFate

PATIENCE_SECONDS: Final = 60

MessagesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID...]", help="Messages' ids, or their beginnings.")
]
CauseOption = Annotated[
    str | None,
    typer.Option("--cause", metavar="CODE", help="All of one cause, as `switchyard dlq` calls it."),
]
CanaryOption = Annotated[
    bool,
    typer.Option("--canary", help="Send one first; send the others only if it was handled."),
]
PatienceOption = Annotated[
    int, typer.Option(min=1, max=3600, help="Seconds in which the canary must be handled.")
]


def redrive(
    context: typer.Context,
    messages: MessagesArgument = None,
    *,
    cause: CauseOption = None,
    canary: CanaryOption = False,
    patience: PatienceOption = PATIENCE_SECONDS,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Send parked messages again to their queues, after their cause was fixed.

    A message that fails again is parked under another id. With --canary the oldest is sent first;
    unless it is handled, the others stay parked and the command exits with 1.
    """
    with parked_messages_of(context, stage) as parked:
        chosen = _chosen(parked, messages or [], cause)
        if canary:
            _send_canary(context, stage, parked, chosen[0], patience)
        for one in chosen[1 if canary else 0 :]:
            _send(parked, one)
    print_done(chosen, "sent again", as_json=as_json)


def _chosen(parked: ParkedMessages, names: Sequence[str], cause: str | None) -> list[ParkedMessage]:
    from switchyard.usecases.dead_letters.causes import of_cause

    if bool(names) is bool(cause):
        raise BadInput(
            "Say which: messages' ids, or --cause with a code that `switchyard dlq` shows."
        )
    return of_cause(parked.newest(MOST_AT_ONCE), cause) if cause else chosen_of(parked.find, names)


def _send(parked: ParkedMessages, one: ParkedMessage) -> None:
    parked.redrive(one)
    notices().print(f"Sent to {clean(one.send_to)}: {clean(one.id)}", soft_wrap=True)


def _send_canary(
    context: typer.Context,
    stage: Stage,
    parked: ParkedMessages,
    canary: ParkedMessage,
    patience: int,
) -> None:
    from switchyard.usecases.dead_letters.watch_redrive import Fate

    services = services_of(context)
    local = local_endpoint(stage, services)
    with operating(f"The stage {stage} is"), services.redrive_watch(stage.value, local) as watch:
        since_ms = services.clock.now_ms()
        _send(parked, canary)
        notices().print(f"Watching it for up to {counted(patience, 'second')} ...", style="dim")
        verdict = watch.fate_of(canary, since_ms=since_ms, patience_seconds=patience)
    _say(verdict)
    if verdict.fate is not Fate.HANDLED:
        raise typer.Exit(SENT_IN_VAIN)


def _say(verdict: WatchedFate) -> None:
    from switchyard.usecases.dead_letters.watch_redrive import Fate

    said = clean(verdict.reason)
    match verdict.fate:
        case Fate.HANDLED:
            notices().print(f"It was handled: {said}.", style="green", soft_wrap=True)
        case Fate.IN_VAIN:
            notices().print(
                f"In vain: {said}. The others stay parked.", style="red", soft_wrap=True
            )
        case Fate.UNKNOWN:
            hint = "The others stay parked; --patience waits longer."
            notices().print(f"Unknown: {said}. {hint}", style="yellow", soft_wrap=True)
