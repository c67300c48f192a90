"""`invoke`: one handler, one event, without Docker."""

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.errors import FUNCTION_FAILED, BadInput
from cli.files.document import read_document
from cli.outside import outside_of
from cli.terminal import notices, visible
from local.cloud import REPOSITORY
from local.invoking import function_names
from switchyard.contracts.function_names import function_folder

FunctionArgument = Annotated[
    str, typer.Argument(metavar="FUNCTION", help="Its folder below lambdas/: api, save_event, …")
]
EventArgument = Annotated[
    Path, typer.Argument(metavar="EVENT", help="The event, in JSON. See tests/events/.")
]

NBSP: Final = "\xa0"  # with which AWS's client indents what an exception says


def invoke(context: typer.Context, function: FunctionArgument, event: EventArgument) -> None:
    """Run a function's handler on this machine and print its answer; exit 1 if it fails.

    Under AWS's own runtime client, with today's code, against the local cloud and with the
    environment that the function has there. What the handler logs goes to stderr.
    """
    name = _known(function)
    given = json.dumps(read_document(event).value).encode()
    invoked = outside_of(context).cloud.invoke(name, given)
    for line in invoked.log.splitlines():
        notices().print(visible(line.replace(NBSP, " ")), style="dim", soft_wrap=True)
    typer.echo(json.dumps(invoked.answer.payload, indent=2))
    if invoked.answer.failed:
        raise typer.Exit(FUNCTION_FAILED)


def _known(function: str) -> str:
    name, known = function_folder(function), function_names(REPOSITORY)
    if name not in known:
        raise BadInput(f"There is no function {function!r}; there are {', '.join(known)}.")
    return name
