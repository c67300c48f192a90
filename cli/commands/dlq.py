"""`dlq`, `dlq list`, `show`, `discard`: what a stage keeps because nobody could handle it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Final, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from cli.errors import BadInput
from cli.operating import local_endpoint, operating
from cli.options import JsonOption
from cli.outside import outside_of
from cli.stages import Stage
from cli.tables import cut_to_fit, table_of
from cli.terminal import clean, print_json, results, visible
from cli.wording import counted, elapsed
from switchyard.contracts.kept import Kept, Unreadable
from switchyard.usecases.letters.kept_letters import KeptLetters
from switchyard.usecases.letters.triage_letters import Cause, by_cause

NOTHING: Final = "Nothing is kept: everything could be handled."
MOST_AT_ONCE: Final = 1000

OperatorStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Whose. Stages other than local take your AWS credentials, which must be allowed to "
        "use the stage's bucket and queues.",
    ),
]
LetterArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A message's id, or the beginning of it.")
]
LettersArgument = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Messages' ids, or their beginnings.")
]
LimitOption = Annotated[
    int, typer.Option(min=1, max=MOST_AT_ONCE, help="So many, of those that were kept last.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

K = TypeVar("K", Kept, Kept | Unreadable)


def by_its_cause(
    context: typer.Context,
    *,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """What nobody could handle: look at it, send it again, discard it.

    Alone: what is kept, by its cause. Mend one, then `dlq redrive --cause CODE --canary`.
    """
    if context.invoked_subcommand:
        return
    with letters_of(context, stage) as letters:
        causes = by_cause(letters.newest(MOST_AT_ONCE))
    if as_json:
        print_json([*causes])
    else:
        _print_causes(causes, results(), now_ms=outside_of(context).clock.now_ms())


def list_kept(
    context: typer.Context,
    *,
    limit: LimitOption = 50,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List what was put aside, the last one first, and how long ago that was.

    Messages that no worker can understand, and events that could not be delivered or saved.
    """
    with letters_of(context, stage) as letters:
        found = letters.newest(limit)
    if as_json:
        print_json([*found])
    else:
        _print_list(found, results(), now_ms=outside_of(context).clock.now_ms())


def show(
    context: typer.Context,
    letter: LetterArgument,
    *,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one whole, with its body."""
    with letters_of(context, stage) as letters:
        kept = letters.find(letter)
    if as_json:
        print_json(kept)
    else:
        _print_kept(kept, results())


def discard(
    context: typer.Context,
    letters: LettersArgument,
    *,
    yes: YesOption = False,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Throw them away for good, after asking."""
    with letters_of(context, stage) as kept:
        chosen = chosen_of(kept.find_to_discard, letters)
        what = counted(len(chosen), "message")
        if not (yes or typer.confirm(f"Throw {what} away for good?", err=True)):
            raise BadInput("Nothing was thrown away.")
        for one in chosen:
            kept.discard(one)
    print_done(chosen, "thrown away", as_json=as_json)


@contextmanager
def letters_of(context: typer.Context, stage: Stage) -> Iterator[KeptLetters]:
    outside = outside_of(context)
    local = local_endpoint(stage, outside)
    with (
        operating(f"What the stage {stage} keeps is"),
        outside.kept_letters(stage.value, local) as letters,
    ):
        yield letters


def chosen_of(find: Callable[[str], K], names: Sequence[str]) -> list[K]:
    """All of them are found before anything is done to the first; each once."""
    found = {kept.key: kept for kept in map(find, names)}
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


def _print_list(found: Sequence[Kept | Unreadable], console: Console, *, now_ms: int) -> None:
    if not found:
        console.print(NOTHING)
        return
    table = table_of("id", "queue", "age", giving_way="reason")
    for kept in found:
        age = elapsed(kept.kept_at, None, now_ms=now_ms)
        table.add_row(clean(kept.id), *_where_how_old_and_why(kept, age))
    console.print(table)


def _where_how_old_and_why(kept: Kept | Unreadable, age: str) -> tuple[str, str, Text]:
    if isinstance(kept, Unreadable):
        return "", age, Text(clean(kept.unreadable))  # not cut: it names the key
    return clean(kept.queue), age, cut_to_fit(kept.reason)


def _print_kept(kept: Kept, console: Console) -> None:
    facts = {
        "id": kept.id,
        "reason": kept.reason,
        "found in": kept.queue,
        "meant for": kept.send_to,
        "sent": kept.sent_at.isoformat(),
        "kept": kept.kept_at.isoformat(),
        "key": kept.key,
    }
    noted = {name: one.string_value or "" for name, one in kept.message_attributes.items()}
    for name, value in (facts | noted).items():
        line = Text.assemble((f"{visible(name):12}", "dim"), visible(value))
        console.print(line, soft_wrap=True)
    console.print()
    console.print(Text(visible(kept.body)), soft_wrap=True)


def print_done(chosen: Sequence[Kept | Unreadable], what: str, *, as_json: bool) -> None:
    if as_json:
        print_json([*chosen])
    else:
        results().print(f"{counted(len(chosen), 'message')} {what}.")
