"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from switchyard_cli.stages import Stage

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


def _file_or_example(file: Path) -> Path:
    """Return the file of an example, or the job in a folder, that is named instead of a file."""
    from switchyard_local.source_tree import (  # noqa: PLC0415 - for help
        JOB_FILE,
        example_file,
        example_names,
    )

    if not file.exists() and str(file) in example_names():
        return example_file(str(file))
    return file / JOB_FILE if (file / JOB_FILE).is_file() else file


JobFileArgument = Annotated[
    Path,
    typer.Argument(
        callback=_file_or_example,
        help="A job in YAML or JSON: name, tags, definitions, tasks. Or a folder with job.yaml, or "
        "the name of an example: `switchyard examples` lists them.",
    ),
]
AdditionFileArgument = Annotated[
    Path, typer.Argument(help="Tasks in YAML or JSON: tasks, definitions.")
]
JobArgument = Annotated[str, typer.Argument(help="A job's id: job-…")]
JobOrTaskArgument = Annotated[
    str,
    typer.Argument(metavar="JOB|TASK", help="A job's id, or a task's request id (job-…__task)."),
]
TaskArgument = Annotated[str | None, typer.Argument(help="The task's id, after a job's id.")]
RequestArgument = Annotated[str, typer.Argument(help="A request id (job-…__task), or a job's id.")]
JsonLinesOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line; notices go to stderr.")
]
