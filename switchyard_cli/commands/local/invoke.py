"""`invoke`: one handler, one event, without Docker."""

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from switchyard.contracts.function_names import function_folder
from switchyard_cli.errors import FUNCTION_FAILED, BadInput
from switchyard_cli.services import services_of
from switchyard_cli.terminal import notices, visible
from switchyard_local.source_tree import SOURCES

FunctionArgument = Annotated[
    str, typer.Argument(metavar="FUNCTION", help="Its folder below lambdas/: api, save_event, …")
]
EventArgument = Annotated[
    Path, typer.Argument(metavar="EVENT", help="The event, in JSON. See tests/events/.")
]

NBSP: Final = "\xa0"  # with which AWS's client indents what an exception says


def invoke(context: typer.Context, function: FunctionArgument, event: EventArgument) -> None:
    """Run a function's handler on this machine and print its answer.

    Under AWS's own runtime client, with today's code, against the local cloud and with the
    environment that the function has there. What the handler logs goes to stderr.
    """
    from switchyard_cli.files.document import read_document

    name = _known(function)
    given = json.dumps(read_document(event).value).encode()
    invoked = services_of(context).cloud.invoke(name, given)
    for line in invoked.log.splitlines():
        notices().print(visible(line.replace(NBSP, " ")), style="dim", soft_wrap=True)
    typer.echo(json.dumps(invoked.answer.payload, indent=2))
    if invoked.answer.failed:
        raise typer.Exit(FUNCTION_FAILED)


def _known(function: str) -> str:
    from switchyard_local.functions.invoke import function_names

    name, known = function_folder(function), function_names(SOURCES)
    if name not in known:
        raise BadInput(f"There is no function {function!r}; there are {', '.join(known)}.")
    return name
