"""The `switchyard` command: import the module of the command that is used, and report failures."""

import sys
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer

from switchyard_cli.command_table import COMMANDS, Entry, Group
from switchyard_cli.plain_values import PlainCommand, PlainGroup

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 a job did not complete, a check found something wrong, or a function or "
    "scenario failed; 2 bad input or usage; 3 the API or the local cloud cannot be reached; "
    "130 interrupted."
)
PLAIN: Final[dict[str, Any]] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,  # Rich alone takes longer to import than help may take to print
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


OF_TASKS: Final = "Tasks are held, not jobs: `switchyard approvals` lists those that ask a person."
UsageError: Final[Any] = typer.BadParameter.__base__


class LazyCommands(PlainGroup):
    """Import a command's module when the command is used, not to list it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {entry.name: None for entry in COMMANDS}  # type: ignore[misc]

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        entry = next((entry for entry in COMMANDS if entry.name == cmd_name), None)
        return None if entry is None else command_of(entry)

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        width = max(len(entry.name) for entry in COMMANDS)
        for section in dict.fromkeys(entry.section for entry in COMMANDS):
            rows = [(e.name.ljust(width), e.help) for e in COMMANDS if e.section == section]
            with formatter.section(section):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except UsageError as error:
            error.message = plain(error.message)
            raise
        except (Exception, KeyboardInterrupt) as error:
            from switchyard_cli.failures import exit_for  # noqa: PLC0415 - imports the client

            raise exit_for(error) from error


app = typer.Typer(cls=LazyCommands, no_args_is_help=True, epilog=EXIT_CODES, **PLAIN)


def plain(message: str) -> str:
    """Leave out what Pydantic, with which Typer reads values, says about itself."""
    said = message.replace("Value error, ", "").partition(", unable to parse")[0]
    return f"{said} {OF_TASKS}" if "'held' is not one of" in said else said


def command_of(entry: Entry | Group) -> Any:
    """Build the Click command of an entry, which imports its module."""
    if isinstance(entry, Entry):
        single = typer.Typer(**PLAIN)
        single.command(entry.name, cls=PlainCommand)(function_of(entry.target))
        return typer.main.get_command(single)
    callback = function_of(entry.callback) if entry.callback else _nothing
    group = typer.Typer(
        name=entry.name,
        cls=PlainGroup,
        help=callback.__doc__ if entry.callback else entry.help,
        callback=callback,
        no_args_is_help=entry.callback is None,
        invoke_without_command=entry.callback is not None,
        **PLAIN,
    )
    for name, target in entry.commands:
        group.command(name, cls=PlainCommand)(function_of(target))
    return typer.main.get_command(group)


def function_of(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    function: Callable[..., Any] = getattr(import_module(f"switchyard_cli.commands.{module}"), name)
    return function


def _nothing() -> None:
    """Prepare nothing before a command of a group."""


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it so
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - only for this option

        typer.echo(f"switchyard {version('switchyard')}")
        raise typer.Exit


@app.callback()
def prepare(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Run fleets of Claude agents: a job is a graph of tasks, each done by an agent.

    Start here: switchyard run examples/brand-analysis.yaml
    """


def run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ✔ shows ? instead
    app(prog_name="switchyard")
