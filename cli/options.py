"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from cli.stages import Stage

StageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Which Switchyard to talk to. Stages other than local take the key from "
        "SWITCHYARD_API_KEY, and the URL from SWITCHYARD_API_URL or the deployed stack.",
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print JSON and nothing else; notices go to stderr."),
]
JobFileArgument = Annotated[
    Path,
    typer.Argument(help="A job in YAML or JSON: name, tags, definitions, tasks. See examples/."),
]
AdditionFileArgument = Annotated[
    Path, typer.Argument(help="Tasks in YAML or JSON: tasks, definitions.")
]
JobArgument = Annotated[str, typer.Argument(help="A job's id: job-…")]
TaskArgument = Annotated[str | None, typer.Argument(help="The task's id, after a job's id.")]
