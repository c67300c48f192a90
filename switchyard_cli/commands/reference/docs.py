"""`docs`: the reference of a stage's API."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.options import StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import results

ToOption = Annotated[
    Path | None,
    typer.Option("--to", dir_okay=False, help="The file to save; a temporary one if absent."),
]
OpenApiOption = Annotated[
    bool, typer.Option("--openapi", help="Save the OpenAPI document instead of the page.")
]
OpenOption = Annotated[
    bool, typer.Option("--open/--no-open", help="Whether to open it in the browser.")
]


def docs(
    context: typer.Context,
    *,
    to: ToOption = None,
    openapi: OpenApiOption = False,
    open_it: OpenOption = True,
    stage: StageOption = Stage.LOCAL,
) -> None:
    """Save the reference of the API as a page and open it in the browser.

    The API asks for a key in a header, which a browser does not send; the page needs nothing else.
    """
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        text = api.text("/openapi.json" if openapi else "/docs")
    file = to or _temporary_file(".json" if openapi else ".html")
    file.write_text(text, encoding="utf-8")
    if openapi:
        said = f"The OpenAPI document was saved as {file}."
    elif open_it and results().is_terminal and typer.launch(str(file)) == 0:
        said = f"The reference was saved as {file}, and opens in the browser."
    else:
        said = f"The reference was saved as {file}: open it in a browser."
    results().print(said, soft_wrap=True)


def _temporary_file(suffix: str) -> Path:
    return Path(tempfile.mkdtemp(prefix="switchyard-docs-")) / f"api{suffix}"
