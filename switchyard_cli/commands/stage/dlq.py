"""`dlq`, `dlq list`, `show`, `discard`: the parked messages of a stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, confirmed, print_json, results, visible
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.wording import counted, elapsed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from switchyard.contracts.parked_messages import ParkedMessage, UnreadableObject
    from switchyard.usecases.dead_letters.causes import Cause
    from switchyard.usecases.dead_letters.parked_messages import ParkedMessages

    Listed = ParkedMessage | UnreadableObject

NOTHING: Final = "No messages are parked."
MOST_AT_ONCE: Final = 1000

OperatorStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Whose. Stages other than local take your AWS credentials, which must be allowed to "
        "use the stage's bucket and queues.",
    ),
]
MessageArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A message's id, or the beginning of it.")
]
MessagesArgument = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Messages' ids, or their beginnings.")
]
LimitOption = Annotated[int, typer.Option(min=1, max=MOST_AT_ONCE, help="How many, newest first.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

P = TypeVar("P", "ParkedMessage", "ParkedMessage | UnreadableObject")


def by_its_cause(
    context: typer.Context,
    *,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Inspect, redrive and discard messages that could not be handled.

    Without a command it counts the parked messages by cause. Fix one cause, then run
    `switchyard dlq redrive --cause CODE --canary`.
    """
    if context.invoked_subcommand:
        return
    from switchyard.usecases.dead_letters.causes import by_cause

    with parked_messages_of(context, stage) as parked:
        causes = by_cause(parked.newest(MOST_AT_ONCE))
    if as_json:
        print_json([*causes])
    else:
        _print_causes(causes, results(), now_ms=services_of(context).clock.now_ms())


def list_parked(
    context: typer.Context,
    *,
    limit: LimitOption = 50,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List the parked messages, newest first, with their age.

    Messages that no worker can understand, and events that could not be delivered or saved.
    """
    with parked_messages_of(context, stage) as parked:
        found = parked.newest(limit)
    if as_json:
        print_json([*found])
    else:
        _print_list(found, results(), now_ms=services_of(context).clock.now_ms())


def show(
    context: typer.Context,
    message: MessageArgument,
    *,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one parked message with its body."""
    with parked_messages_of(context, stage) as parked:
        found = parked.find(message)
    if as_json:
        print_json(found)
    else:
        _print_message(found, results())


def discard(
    context: typer.Context,
    messages: MessagesArgument,
    *,
    yes: YesOption = False,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Delete parked messages for good, after asking."""
    with parked_messages_of(context, stage) as parked:
        chosen = chosen_of(parked.find_to_discard, messages)
        what = counted(len(chosen), "message")
        if not confirmed(f"Delete {what} for good?", yes=yes):
            raise BadInput("Nothing was deleted.")
        for one in chosen:
            parked.discard(one)
    print_done(chosen, "deleted", as_json=as_json)


@contextmanager
def parked_messages_of(context: typer.Context, stage: Stage) -> Iterator[ParkedMessages]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The parked messages of the stage {stage} are"),
        services.parked_messages(stage.value, local) as parked,
    ):
        yield parked


def chosen_of(find: Callable[[str], P], names: Sequence[str]) -> list[P]:
    """Find each message once, and all of them before anything is done to the first."""
    found = {message.key: message for message in map(find, names)}
    return list(found.values())


def _print_causes(causes: Sequence[Cause], console: Console, *, now_ms: int) -> None:
    if not causes:
        console.print(NOTHING)
        return
    table = table_of("code", "messages", "queue", "newest", giving_way="cause")
    for one in causes:
        age = elapsed(one.newest, None, now_ms=now_ms)
        row = (one.code, str(one.count), clean(one.queue), age, cut_to_fit(one.cause))
        table.add_row(*row)
    console.print(table)


def _print_list(found: Sequence[Listed], console: Console, *, now_ms: int) -> None:
    if not found:
        console.print(NOTHING)
        return
    table = table_of("id", "queue", "age", giving_way="reason")
    for message in found:
        age = elapsed(message.parked_at, None, now_ms=now_ms)
        table.add_row(clean(message.id), *_queue_age_reason(message, age))
    console.print(table)


def _queue_age_reason(message: Listed, age: str) -> tuple[str, str, Text]:
    from rich.text import Text

    from switchyard.contracts.parked_messages import UnreadableObject

    if isinstance(message, UnreadableObject):
        return "", age, Text(clean(message.unreadable))  # not cut: it names the key
    return clean(message.queue), age, cut_to_fit(message.reason)


def _print_message(message: ParkedMessage, console: Console) -> None:
    from rich.text import Text

    facts = {
        "id": message.id,
        "reason": message.reason,
        "received from": message.queue,
        "meant for": message.send_to,
        "sent": message.sent_at.isoformat(),
        "parked": message.parked_at.isoformat(),
        "key": message.key,
    }
    noted = {name: one.string_value or "" for name, one in message.message_attributes.items()}
    for name, value in (facts | noted).items():
        line = Text.assemble((f"{visible(name):14}", "dim"), visible(value))
        console.print(line, soft_wrap=True)
    console.print()
    console.print(Text(visible(message.body)), soft_wrap=True)


def print_done(chosen: Sequence[Listed], what: str, *, as_json: bool) -> None:
    if as_json:
        print_json([*chosen])
    else:
        results().print(f"{counted(len(chosen), 'message')} {what}.")
