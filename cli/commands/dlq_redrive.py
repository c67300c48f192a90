"""`dlq redrive`: what was put aside goes back; with a canary, one first and then the rest."""

from collections.abc import Sequence
from typing import Annotated, Final

import typer

from cli.commands.dlq import (
    MOST_AT_ONCE,
    OperatorStageOption,
    chosen_of,
    letters_of,
    print_done,
)
from cli.errors import SENT_IN_VAIN, BadInput
from cli.operating import local_endpoint, operating
from cli.options import JsonOption
from cli.outside import outside_of
from cli.stages import Stage
from cli.terminal import clean, notices
from cli.wording import counted
from switchyard.contracts.kept import Kept
from switchyard.usecases.letters.kept_letters import KeptLetters
from switchyard.usecases.letters.triage_letters import of_cause
from switchyard.usecases.letters.watch_letter import Fate, Verdict

PATIENCE_SECONDS: Final = 60

LettersArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID...]", help="Messages' ids, or their beginnings.")
]
CauseOption = Annotated[
    str | None,
    typer.Option("--cause", metavar="CODE", help="All of one cause, as `switchyard dlq` calls it."),
]
CanaryOption = Annotated[
    bool,
    typer.Option(
        "--canary", help="Send one and see what becomes of it; the others only if it was handled."
    ),
]
PatienceOption = Annotated[
    int, typer.Option(min=1, max=3600, help="Seconds in which the canary must be handled.")
]


def redrive(
    context: typer.Context,
    letters: LettersArgument = None,
    *,
    cause: CauseOption = None,
    canary: CanaryOption = False,
    patience: PatienceOption = PATIENCE_SECONDS,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Send them again to the queues they were meant for, once their cause is mended.

    What cannot be handled this time either comes back under another id. With --canary the oldest
    goes first; unless it is handled, the others stay and the command ends with 1.
    """
    with letters_of(context, stage) as kept:
        chosen = _chosen(kept, letters or [], cause)
        if canary:
            _send_canary(context, stage, kept, chosen[0], patience)
        for one in chosen[1 if canary else 0 :]:
            _send(kept, one)
    print_done(chosen, "sent again", as_json=as_json)


def _chosen(kept: KeptLetters, names: Sequence[str], cause: str | None) -> list[Kept]:
    if bool(names) is bool(cause):
        raise BadInput(
            "Say which: messages' ids, or --cause with a code that `switchyard dlq` shows."
        )
    return of_cause(kept.newest(MOST_AT_ONCE), cause) if cause else chosen_of(kept.find, names)


def _send(kept: KeptLetters, one: Kept) -> None:
    kept.redrive(one)
    notices().print(f"Sent to {clean(one.send_to)}: {clean(one.id)}", soft_wrap=True)


def _send_canary(
    context: typer.Context, stage: Stage, kept: KeptLetters, canary: Kept, patience: int
) -> None:
    outside = outside_of(context)
    local = local_endpoint(stage, outside)
    with operating(f"The stage {stage} is"), outside.letter_watch(stage.value, local) as watch:
        since_ms = outside.clock.now_ms()
        _send(kept, canary)
        notices().print(f"Watching it for up to {counted(patience, 'second')} ...", style="dim")
        verdict = watch.fate_of(canary, since_ms=since_ms, patience_seconds=patience)
    _say(verdict)
    if verdict.fate is not Fate.HANDLED:
        raise typer.Exit(SENT_IN_VAIN)


def _say(verdict: Verdict) -> None:
    said = clean(verdict.reason)
    match verdict.fate:
        case Fate.HANDLED:
            notices().print(f"It was handled: {said}.", style="green", soft_wrap=True)
        case Fate.IN_VAIN:
            notices().print(f"In vain: {said}. The others stay.", style="red", soft_wrap=True)
        case Fate.UNKNOWN:
            hint = "The others stay; --patience waits longer."
            notices().print(f"Unknown: {said}. {hint}", style="yellow", soft_wrap=True)
