"""`queues create`, `list`, `show`, `change`, `delete`: the work queues of a tenant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption, StageOption
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import print_json, results

if TYPE_CHECKING:
    from switchyard.contracts.scheduling.work_queues import QueueView

QueueArgument = Annotated[
    str, typer.Argument(metavar="QUEUE", help="A queue's name: group or group/name.")
]
LeaseOption = Annotated[
    str | None, typer.Option(help="How long a claim is renewed for, from 10s to 15m.")
]
AttemptsOption = Annotated[
    int | None,
    typer.Option(help="How often its tasks are tried, unless their definition says otherwise."),
]
PriorityOption = Annotated[str | None, typer.Option(help="high, normal or low.")]
LimitOption = Annotated[
    int | None, typer.Option("--concurrency", help="How many of its tasks may run at once.")
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="Count --concurrency by this, like '${input.repo}'."),
]
RateOption = Annotated[
    int | None, typer.Option("--starts-per-minute", help="How many of its tasks may start.")
]
VersionOption = Annotated[
    int | None, typer.Option("--version", help="Refuse if the queue has another version by now.")
]
UnsetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--unset",
        help="Take a setting away: lease, attempts, priority, concurrency, starts-per-minute.",
    ),
]
_FIELDS = {
    "lease": "lease",
    "attempts": "maxAttempts",
    "priority": "priority",
    "concurrency": "concurrency",
    "starts-per-minute": "startsPerMinute",
}


def create(  # noqa: PLR0913 - one per option
    context: typer.Context,
    queue: QueueArgument,
    *,
    lease: LeaseOption = None,
    attempts: AttemptsOption = None,
    priority: PriorityOption = None,
    concurrency: LimitOption = None,
    key: KeyOption = None,
    starts: RateOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Create a work queue in a group that the stage has."""
    from switchyard.contracts.scheduling.work_queues import CreateQueue
    from switchyard_cli.actions.queues import checked

    given = _given(lease, attempts, priority, _limit(concurrency, key), starts)
    request = checked(CreateQueue, {"name": queue, **given})
    with api_of(stage, services_of(context)) as api:
        created = api.create_queue(request)
    _print(created, "Created", as_json=as_json)


def list_created(
    context: typer.Context, *, stage: StageOption = Stage.LOCAL, as_json: JsonOption = False
) -> None:
    """List the work queues, by name."""
    from switchyard_cli.views.queues import print_queues

    with api_of(stage, services_of(context)) as api:
        found = [*_all(api)]
    if as_json:
        print_json([*found])
    else:
        print_queues(found, results())


def show(
    context: typer.Context,
    queue: QueueArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show a work queue: its settings, what waits in it and what runs."""
    from switchyard_cli.views.queues import print_queue

    services = services_of(context)
    with api_of(stage, services) as api:
        found = api.queue(named(queue))
    if as_json:
        print_json(found)
    else:
        print_queue(found, results(), now_ms=services.clock.now_ms())


def change(  # noqa: PLR0913 - one per option
    context: typer.Context,
    queue: QueueArgument,
    *,
    lease: LeaseOption = None,
    attempts: AttemptsOption = None,
    priority: PriorityOption = None,
    concurrency: LimitOption = None,
    key: KeyOption = None,
    starts: RateOption = None,
    unset: UnsetOption = None,
    version: VersionOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Change a work queue for tasks that are submitted from now on."""
    from switchyard.contracts.scheduling.work_queues import ChangeQueue
    from switchyard_cli.actions.queues import checked

    given = _given(lease, attempts, priority, _limit(concurrency, key), starts)
    content = {**_unset(unset or []), **given}
    if not content:
        raise BadInput("Say what to change, like --priority high or --unset lease.")
    request = checked(ChangeQueue, content | ({"version": version} if version else {}))
    with api_of(stage, services_of(context)) as api:
        changed = api.change_queue(named(queue), request)
    _print(changed, "Changed", as_json=as_json)


def delete(
    context: typer.Context,
    queue: QueueArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Delete a work queue that no unsettled task and no definition uses."""
    with api_of(stage, services_of(context)) as api:
        deleted = api.delete_queue(named(queue))
    if as_json:
        print_json(deleted)
    else:
        results().print(f"Deleted {deleted.name}.")


def named(queue: str) -> str:
    from switchyard.domain.scheduling.work_queues import problem_with_queue_name

    problem = problem_with_queue_name(queue)
    if problem:
        raise BadInput(f"{queue!r} cannot name a queue: it {problem}.")
    return queue


@contextmanager
def api_of(stage: Stage, services: Services) -> Iterator[Api]:
    with Api(endpoint_of(stage, services), services.transport) as api:
        yield api


def _all(api: Api) -> Iterator[QueueView]:
    page = api.queues()
    yield from page.queues
    while page.cursor is not None:
        page = api.queues(page.cursor)
        yield from page.queues


def _limit(concurrency: int | None, key: str | None) -> dict[str, Any] | None:
    if concurrency is None and key is not None:
        raise BadInput("--key belongs to --concurrency: say how many may run for each key.")
    if concurrency is None:
        return None
    return {"limit": concurrency} | ({"key": key} if key is not None else {})


def _given(*values: Any) -> dict[str, Any]:
    """Return the settings that were given, by the names that the API has for them."""
    named = zip(_FIELDS.values(), values, strict=True)
    return {name: value for name, value in named if value is not None}


def _unset(names: list[str]) -> dict[str, None]:
    unknown = [name for name in names if name not in _FIELDS]
    if unknown:
        raise BadInput(f"--unset {unknown[0]}: expected one of {', '.join(_FIELDS)}.")
    return {_FIELDS[name]: None for name in names}


def _print(queue: QueueView, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(queue)
    else:
        results().print(f"{done} {queue.name}, version {queue.version}.")
