"""Print to the user's terminal, without control characters from elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from switchyard.domain.text import without_control_characters

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console
    from rich.text import Text

WIDTH_WITHOUT_TERMINAL = 160  # logs scroll sideways; eighty columns would cut ids


def results() -> Console:
    return _console(to_stderr=False)


def notices() -> Console:
    """Return a console for progress, hints and errors, apart from results that a pipe reads."""
    return _console(to_stderr=True)


def clean(text: str) -> str:
    """Return the text without escape sequences and on one line."""
    return " ".join(without_control_characters(text).split())


def visible(text: str) -> str:
    """Return the text on one line, with every control character written out instead of obeyed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def styled(text: str, style: str) -> Text:
    from rich.text import Text  # noqa: PLC0415 - help needs no Rich

    return Text(clean(text), style=style)


def heading(text: str, style: str = "bold") -> Text:
    return styled(text, style)


def print_json(answer: BaseModel | list[BaseModel]) -> None:
    typer.echo(json.dumps(_jsonable(answer), indent=2))


def print_json_line(answer: BaseModel) -> None:
    typer.echo(json.dumps(_jsonable(answer)))


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask a person, unless `--yes` was given; raise `BadInput` if nobody can answer."""
    from switchyard_cli.errors import BadInput  # noqa: PLC0415 - it imports the client
    from switchyard_cli.interrupts import was_pressed  # noqa: PLC0415

    try:
        return yes or typer.confirm(question, err=True)
    except typer.Abort as error:
        if was_pressed():
            raise
        typer.echo(err=True)  # the question has no line of its own yet
        raise BadInput(
            "Nothing was done: nobody answered. Without a terminal, add --yes."
        ) from error


def _jsonable(answer: BaseModel | list[BaseModel]) -> Any:
    if isinstance(answer, list):
        return [_jsonable(entry) for entry in answer]
    return answer.model_dump(mode="json", by_alias=True)


def _console(*, to_stderr: bool) -> Console:
    # Without markup and emoji codes, text is shown as it was written.
    from rich.console import Console  # noqa: PLC0415 - help needs no Rich

    console = Console(stderr=to_stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_WITHOUT_TERMINAL
    return console
