"""`events`: read the event log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.domain.ids import JOB_ID
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import BadInput, Interrupted
from switchyard_cli.ids import job_named, task_named
from switchyard_cli.options import JsonLinesOption, StageOption, TaskArgument
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json_line, results

if TYPE_CHECKING:
    from switchyard.client.event_source import EventSource
    from switchyard.client.following import Following
    from switchyard.contracts.events.views import EventsAsked, EventView

    Show = Callable[[Sequence[EventView]], None]

NEWEST = 100
SubjectArgument = Annotated[
    str | None,
    typer.Argument(metavar="ID", help="A job's id, or a request id (job-…__task)."),
]
TypeOption = Annotated[
    str | None, typer.Option("--type", help="Only these, such as task-failed or 'Task Failed'.")
]
AppOption = Annotated[str | None, typer.Option(help="Only what this app has sent.")]
SinceOption = Annotated[
    str | None, typer.Option(help="From then on: a time (2027-01-31T12:00), or 15m, 2h, 1d ago.")
]
UntilOption = Annotated[str | None, typer.Option(help="Before then; written as --since is.")]
LimitOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1000,
        help=f"The newest so many. A job is shown whole without it, everything else {NEWEST}.",
    ),
]
FollowOption = Annotated[
    bool, typer.Option("--follow", "-f", help="Go on with what comes, until a job has settled.")
]


def events(  # noqa: PLR0913 - one per option
    context: typer.Context,
    subject: SubjectArgument = None,
    task: TaskArgument = None,
    *,
    event_type: TypeOption = None,
    app: AppOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = None,
    follow: FollowOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonLinesOption = False,
) -> None:
    """Read the event log of a job or a task, or search it by type, app and time.

    Name a task by its request id, or by the ids of its job and itself. Heartbeats are shown with
    their task alone.
    """
    from switchyard.client.following import Following
    from switchyard.contracts.events.views import EventsAsked
    from switchyard_cli.views.event_lines import EventLines

    if follow and until:
        raise BadInput("--follow goes on from now; leave --until out.")
    services = services_of(context)
    asked = EventsAsked(type=event_type, app=app, since=moment_of(since), until=moment_of(until))
    with Api(endpoint_of(stage, services), services.transport) as api:
        source = _source(api, asked, subject, task)
        show: Show = _json_lines if as_json else EventLines(results(), of_job=source.job).show
        found, older_left_out = _first(source, limit)
        if found:
            show(found)
        if follow:
            following = Following(source, services.clock)
            following.begin_with(found, older_left_out=older_left_out)
            _follow(following, show)
        elif not found:
            _report_none(api, subject, task, as_json=as_json)


def _source(api: Api, asked: EventsAsked, subject: str | None, task: str | None) -> EventSource:
    from switchyard.client.event_source import EventSource

    if subject is None:
        return EventSource(api, asked)
    if asked.app is not None:
        raise BadInput("--app is for all of an app's events; with an id, leave it out.")
    if task is None and JOB_ID.fullmatch(subject):
        return EventSource.of_job(api, asked, subject)
    if task is None and "__" not in subject:
        return EventSource(api, asked.model_copy(update={"entity": subject}))
    return EventSource.of_task(api, asked, *task_named(subject, task))


def _report_none(api: Api, subject: str | None, task: str | None, *, as_json: bool) -> None:
    """Raise `BadInput` if what is named is no job, and `NotFound` if it is a task that does not
    exist, with the one probably meant."""
    from switchyard_cli.actions.find_task import task_in

    if subject is not None and (task is not None or "__" in subject):
        task_in(api, *task_named(subject, task))
    elif subject is not None:
        job_named(subject)
    if not as_json:
        results().print("No events.")


def _first(source: EventSource, limit: int | None) -> tuple[list[EventView], bool]:
    if limit is None and source.is_of_whole_job:
        return list(source.every()), False
    found, older = source.newest(limit or NEWEST)
    if older:
        hint = "Older ones are left out: raise --limit, or move on with --until."
        notices().print(hint, style="dim", soft_wrap=True)
    return found, older


def _follow(following: Following, show: Show) -> None:
    try:
        for news in following.to_the_end():
            show(news)
    except KeyboardInterrupt as interrupt:
        raise Interrupted("Stopped following; the log goes on.") from interrupt


def moment_of(given: str | None) -> str | None:
    """A time without a zone is one of this machine's; what is no time, the API judges."""
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given)
        return (moment if moment.tzinfo else moment.astimezone()).isoformat()
    except (ValueError, OverflowError):
        return given


def _json_lines(events: Sequence[EventView]) -> None:
    for event in events:
        print_json_line(event)
