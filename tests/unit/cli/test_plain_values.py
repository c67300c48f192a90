"""Plain values are read as Typer reads them, and what is wrong is refused in its words."""

from enum import StrEnum
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from switchyard_cli.plain_values import PlainCommand


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


def painted(
    name: str,
    other: Annotated[str | None, typer.Argument()] = None,
    *,
    colour: Colour = Colour.RED,
    count: Annotated[int, typer.Option(min=1, max=100)] = 20,
    share: float = 0.5,
    tag: Annotated[list[str] | None, typer.Option()] = None,
    bright: bool = False,
) -> None:
    typer.echo(repr((name, other, colour, count, share, tag, bright)))


@pytest.mark.parametrize(
    "typed",
    [
        ["house"],
        ["house", "shed"],
        [""],
        [],
        ["--help"],
        ["house", "--colour", "dark-blue"],
        ["house", "--colour", "DARK_BLUE"],
        ["house", "--colour", "Red"],
        ["house", "--colour", ""],
        ["house", "--count", "7"],
        ["house", "--count", "007"],
        ["house", "--count", "0"],
        ["house", "--count", "101"],
        ["house", "--count", "-1"],
        ["house", "--count", "+7"],
        ["house", "--count", " 7 "],
        ["house", "--count", "1_0"],
        ["house", "--count", "\N{ARABIC-INDIC DIGIT SEVEN}"],
        ["house", "--count", "7.0"],
        ["house", "--count", "9" * 5000],
        ["house", "--count", "seven"],
        ["house", "--share", "0.25"],
        ["house", "--share", "half"],
        ["house", "--tag", "a", "--tag", "b"],
        ["house", "--bright"],
        ["house", "--dim"],
    ],
    ids=lambda typed: " ".join(typed)[:30],
)
def test_a_value_is_read_as_typer_reads_it(typed: list[str]) -> None:
    by_typer, by_us = typer.Typer(rich_markup_mode=None), typer.Typer(rich_markup_mode=None)
    by_typer.command()(painted)
    by_us.command(cls=PlainCommand)(painted)

    expected = CliRunner().invoke(by_typer, typed)
    found = CliRunner().invoke(by_us, typed)

    assert (found.exit_code, found.output) == (expected.exit_code, expected.output)
