"""`definitions put`, `list`, `show`, `diff`, `delete`: what tasks can be asked to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.client.errors import ClientError, NotFound
from switchyard.domain.ids import DEFINITION_NAME, DEFINITION_NAME_RULE
from switchyard.domain.text import did_you_mean
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import DEFINITIONS_DIFFER, BadInput
from switchyard_cli.options import JsonOption, StageOption
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import print_json, results, visible

if TYPE_CHECKING:
    from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition

DefinitionsFileArgument = Annotated[
    Path,
    typer.Argument(help="YAML or JSON with `definitions`; a job file will do."),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A task definition's name.")]
FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="YAML or JSON with `definitions`, to compare with."),
]
VersionOption = Annotated[int | None, typer.Option(min=1, help="The latest when absent.")]
FromOption = Annotated[
    int | None,
    typer.Option("--from", min=1, help="The version before --to, or before the file's."),
]
ToOption = Annotated[int | None, typer.Option("--to", min=1, help="The latest when absent.")]


def put(
    context: typer.Context,
    file: DefinitionsFileArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Register the task definitions of a file.

    A changed definition becomes a new version; an unchanged one stays at its version. Jobs that
    were submitted before stay with the versions they started with.
    """
    from switchyard_cli.actions.submit import register
    from switchyard_cli.files.job_file import read_definitions
    from switchyard_cli.views.listings import print_definitions

    document, definitions = read_definitions(file)
    with _api(stage, services_of(context)) as api:
        clock = services_of(context).clock
        registered = register(document, definitions, api, clock=clock)
    if as_json:
        print_json([*registered])
    else:
        print_definitions(registered, results())


def list_registered(
    context: typer.Context, *, stage: StageOption = Stage.LOCAL, as_json: JsonOption = False
) -> None:
    """List the registered task definitions, each with its latest version."""
    from switchyard_cli.views.listings import print_definitions

    with _api(stage, services_of(context)) as api:
        found = [*_registered(api)]
    if as_json:
        print_json([*found])
    else:
        print_definitions(found, results())


def show(
    context: typer.Context,
    name: NameArgument,
    *,
    version: VersionOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one version of a task definition, as YAML that `put` takes.

    A deleted definition still has its versions.
    """
    with _api(stage, services_of(context)) as api:
        found = _version(api, name, version)
    if as_json:
        print_json(found)
    else:
        _print_lines([f"# {found.name} version {found.version}", *_lines_for_put(found)])


def diff(
    context: typer.Context,
    name: NameArgument,
    file: FileArgument = None,
    *,
    old: FromOption = None,
    new: ToOption = None,
    stage: StageOption = Stage.LOCAL,
) -> None:
    """Show how two versions differ, or a version and a file; exit 1 if they do.

    Without options: the latest version and the one before it, or the latest and the file.
    """
    from switchyard_cli.views.definition_text import differences

    if file is not None and new is not None:
        raise BadInput("Give either a file or --to.")
    with _api(stage, services_of(context)) as api:
        if file is not None:
            then, now = _named(_version(api, name, old)), (str(file), _in_file(file, name))
        else:
            latter = _version(api, name, new)
            then, now = _named(_before(api, latter, old)), _named(latter)
    lines = list(differences(then, now))
    _print_lines(lines)
    if lines:
        raise typer.Exit(DEFINITIONS_DIFFER)


def delete(
    context: typer.Context,
    name: NameArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Delete a task definition that no unsettled job uses.

    Its versions stay for the jobs that ran by them; `put` makes the next one.
    """
    with _api(stage, services_of(context)) as api, _suggesting(name, api):
        deleted = api.delete_definition(_checked(name))
    if as_json:
        print_json(deleted)
    else:
        results().print(f"Deleted {deleted.name}; its last version was {deleted.last_version}.")


def _registered(api: Api) -> Iterator[RegisteredDefinition]:
    page = api.definitions()
    yield from page.definitions
    while page.cursor is not None:
        page = api.definitions(page.cursor)
        yield from page.definitions


def _api(stage: Stage, services: Services) -> Api:
    return Api(endpoint_of(stage, services), services.transport)


def _version(api: Api, name: str, version: int | None) -> RegisteredDefinition:
    with _suggesting(name, api):
        return api.definition(_checked(name), version)


@contextmanager
def _suggesting(name: str, api: Api) -> Iterator[None]:
    """Suggest a registered definition where there is none of this name."""
    try:
        yield
    except NotFound as error:
        known: list[str] = []
        with suppress(ClientError):
            known = [definition.name for definition in _registered(api)]
        hint = did_you_mean(name, known)
        if not hint:
            raise
        raise NotFound(f"There is no task definition {name!r}{hint}") from error


def _checked(name: str) -> str:
    if not DEFINITION_NAME.fullmatch(name):
        raise BadInput(f"{name!r} cannot name a definition: use {DEFINITION_NAME_RULE}.")
    return name


def _before(api: Api, latter: RegisteredDefinition, version: int | None) -> RegisteredDefinition:
    if version is None and latter.version == 1:
        raise BadInput(f"{latter.name} has no version before 1; say which with --from and --to.")
    return _version(api, latter.name, version or latter.version - 1)


def _in_file(file: Path, name: str) -> TaskDefinition:
    from switchyard_cli.files.job_file import read_definitions

    _, definitions = read_definitions(file)
    if name not in definitions:
        hint = did_you_mean(name, definitions) or "."
        raise BadInput(f"{file} has no definition {name!r}{hint}")
    return definitions[name]


def _named(found: RegisteredDefinition) -> tuple[str, TaskDefinition]:
    return f"{found.name} version {found.version}", found


def _lines_for_put(found: RegisteredDefinition) -> list[str]:
    from switchyard_cli.views.definition_text import canonical_yaml

    lines = canonical_yaml(found).splitlines()
    return ["definitions:", f"  {found.name}:", *(f"    {line}".rstrip() for line in lines)]


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        typer.echo(visible(line))
