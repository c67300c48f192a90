"""`queues put` and `queues dead-letters`: the items of a work queue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from switchyard_cli.commands.jobs.queues import QueueArgument, api_of, named
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results

DefinitionOption = Annotated[
    str, typer.Option("--definition", "-d", help="The task definition that works on the item.")
]
InputOption = Annotated[
    Path | None, typer.Option("--input", help="The item's input, a file in YAML or JSON.")
]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option("--metadata", "-m", help="A text beside the item, as name=value. Repeatable."),
]
ClassOption = Annotated[str | None, typer.Option("--priority", help="high, normal or low.")]
IdempotencyOption = Annotated[
    str | None,
    typer.Option("--key", help="The same key within 24 hours is the same item. Made when absent."),
]
LimitOption = Annotated[int, typer.Option(min=1, max=100, help="How many failures to look at.")]
CursorOption = Annotated[str | None, typer.Option(help="Where the page before ended.")]


def put(  # noqa: PLR0913 - one per option
    context: typer.Context,
    queue: QueueArgument,
    *,
    definition: DefinitionOption,
    input_file: InputOption = None,
    metadata: MetadataOption = None,
    priority: ClassOption = None,
    key: IdempotencyOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Put an item into a work queue: a job of one task."""
    from switchyard.contracts.scheduling.work_queues import PutItem
    from switchyard_cli.actions.queues import checked
    from switchyard_cli.files.document import read_document

    content: dict[str, Any] = {"definition": definition}
    if input_file is not None:
        content["input"] = read_document(input_file).value
    if metadata:
        content["metadata"] = _texts(metadata)
    if priority is not None:
        content["priority"] = priority
    item = checked(PutItem, content)
    services = services_of(context)
    with api_of(stage, services) as api:
        accepted = api.put_item(named(queue), item, key=key or services.new_key())
    if as_json:
        print_json(accepted)
        return
    again = " It was accepted before, under the same key." if accepted.repeated else ""
    results().print(f"{accepted.request_id} is in {accepted.queue}.{again}", soft_wrap=True)


def dead_letters(
    context: typer.Context,
    queue: QueueArgument,
    *,
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List the tasks of a work queue that failed for good, newest first."""
    from switchyard_cli.views.queues import print_dead_letters

    with api_of(stage, services_of(context)) as api:
        page = api.dead_letters(named(queue), limit=limit, cursor=cursor)
    if as_json:
        print_json(page)
        return
    print_dead_letters(page.dead_letters, results())
    if page.cursor:
        notices().print(f"Older ones: --cursor {page.cursor}", style="dim", soft_wrap=True)


def _texts(given: list[str]) -> dict[str, str]:
    wrong = [text for text in given if "=" not in text[1:]]
    if wrong:
        raise BadInput(f"--metadata {wrong[0]}: expected name=value.")
    return {name: value for name, _, value in (text.partition("=") for text in given)}
