"""`schema`: print the JSON Schema of a kind of file."""

import json
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


class Kind(StrEnum):
    JOB = "job"
    TRIGGER = "trigger"
    DEFINITION = "definition"


KindArgument = Annotated[Kind, typer.Argument(help="The kind of file.")]


def schema(kind: KindArgument) -> None:
    """Print the JSON Schema of job, trigger or definition files, for editors.

    In VS Code, save it and name it in the first line of a file:
    `# yaml-language-server: $schema=job.schema.json`
    """
    typer.echo(json.dumps(schema_of(kind), indent=2))


def schema_of(kind: Kind) -> dict[str, Any]:
    from pydantic import BaseModel

    from switchyard_cli.files.job_file import DefinitionsFile, JobFile
    from switchyard_cli.files.trigger_file import TriggerFile

    models: dict[Kind, type[BaseModel]] = {
        Kind.JOB: JobFile,
        Kind.TRIGGER: TriggerFile,
        Kind.DEFINITION: DefinitionsFile,
    }
    title = f"Switchyard {kind} file"
    found = models[kind].model_json_schema(by_alias=True)
    return {"$schema": DIALECT, **found, "title": title}
