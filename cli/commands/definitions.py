"""`definitions put` and `definitions list`: what tasks can be asked to do."""

from pathlib import Path
from typing import Annotated

import typer

from cli.api import Api
from cli.files.job_file import read_definitions
from cli.listings import print_definitions
from cli.options import JsonOption, StageOption
from cli.outside import outside_of
from cli.stages import Stage, endpoint_of
from cli.submitting import register
from cli.terminal import print_json, results

DefinitionsFileArgument = Annotated[
    Path,
    typer.Argument(help="YAML or JSON with `definitions`; a job file will do."),
]


def put(
    context: typer.Context,
    file: DefinitionsFileArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Register the task definitions of a file.

    A changed definition becomes a new version, an unchanged one keeps its own. Jobs already
    submitted keep the versions they started with.
    """
    document, definitions = read_definitions(file)
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        registered = register(document, definitions, api)
    if as_json:
        print_json([*registered])
    else:
        print_definitions(registered, results())


def list_registered(
    context: typer.Context, *, stage: StageOption = Stage.LOCAL, as_json: JsonOption = False
) -> None:
    """List the registered task definitions, each with its latest version."""
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        found = api.definitions()
    if as_json:
        print_json([*found])
    else:
        print_definitions(found, results())
