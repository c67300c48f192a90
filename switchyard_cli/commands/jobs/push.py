"""`definitions push`: register the functions of a Python package as task definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.options import JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, print_json, results
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.functions.definitions import FunctionDefinitions
    from switchyard_cli.views.printed import PushedFunction

PackageArgument = Annotated[
    str,
    typer.Argument(
        metavar="PACKAGE", help="The folder of a Python package, or the name it is imported by."
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the definitions, and register nothing.")
]


def push(
    context: typer.Context,
    package: PackageArgument,
    *,
    dry_run: DryRunOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Register every function of a package that `@task` marks.

    The package is imported on this machine, and nowhere else. A definition names the hash of the
    package's files: a worker with other files leaves its tasks to a worker that has these.
    """
    from switchyard_cli.actions.functions import described, registered

    found = described(package)
    if dry_run:
        pushed = [_pushed(name, found) for name in found.definitions]
    else:
        services = services_of(context)
        with Api(endpoint_of(stage, services), services.transport) as api:
            pushed = [
                _pushed(one.name, found, one.version)
                for one in registered(found, api, services.clock)
            ]
    if as_json:
        print_json([*pushed])
    else:
        _print_pushed(pushed, found, registered=not dry_run)


def _pushed(name: str, found: FunctionDefinitions, version: int | None = None) -> PushedFunction:
    from switchyard_cli.views.printed import PushedFunction

    function = found.definitions[name].function or ""
    return PushedFunction(name=name, function=function, code_hash=found.code_hash, version=version)


def _print_pushed(
    pushed: list[PushedFunction], found: FunctionDefinitions, *, registered: bool
) -> None:
    from switchyard.domain.health.unserved import code_name
    from switchyard_cli.views.tables import table_of

    table = table_of("name", "version", giving_way="function")
    for one in pushed:
        table.add_row(clean(one.name), str(one.version or ""), clean(one.function))
    console = results()
    console.print(table)
    code = code_name(found.package.name, found.code_hash)
    done = "registered" if registered else "found, and not registered"
    console.print(f"{counted(len(pushed), 'function')} of {code} {done}.", soft_wrap=True)
