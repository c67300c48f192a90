"""`events` and `verify`: what the log says, and whether the state table says the same."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli.api import Api
from cli.errors import LOG_DISAGREES, BadInput, Interrupted
from cli.event_lines import EventLines
from cli.named import job_named, task_named
from cli.options import JobArgument, JsonOption, StageOption, TaskArgument
from cli.outside import outside_of
from cli.stages import Stage, endpoint_of
from cli.terminal import notices, print_json, print_json_line, results, visible
from cli.verifying import DifferenceView, Verification, Verifier
from cli.wording import counted
from switchyard.client.event_source import EventSource
from switchyard.client.following import Following
from switchyard.contracts.event_views import EventsAsked, EventView
from switchyard.domain.ids import JOB_ID

NEWEST = 100

Show = Callable[[Sequence[EventView]], None]

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
EventsJsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line; notices go to stderr.")
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
    as_json: EventsJsonOption = False,
) -> None:
    """Read the log: of a job with all its tasks, of one task, or by type, app and time.

    Name a task by its request id, or by the ids of its job and itself. Heartbeats are shown with
    their task alone.
    """
    if follow and until:
        raise BadInput("--follow goes on from now; leave --until out.")
    outside = outside_of(context)
    asked = EventsAsked(type=event_type, app=app, since=moment_of(since), until=moment_of(until))
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        source = _source(api, asked, subject, task)
        show: Show = _json_lines if as_json else EventLines(results(), of_job=source.job).show
        found, older_left_out = _first(source, limit)
        if found:
            show(found)
        if follow:
            following = Following(source, outside.clock)
            following.begin_with(found, older_left_out=older_left_out)
            _follow(following, show)
        elif not found and not as_json:
            results().print("No events.")


def verify(
    context: typer.Context,
    job: JobArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Rebuild a job from its log alone and compare it with the state table.

    Exits with 0 only if they agree. Events of a job under way may still be on their way: what
    differs is looked at again for a few seconds, and told as possible delay.
    """
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        found = Verifier(api, outside.clock).verify(job_named(job))
    if as_json:
        print_json(found)
    else:
        _print_verification(found, results())
    if not found.agree:
        raise typer.Exit(LOG_DISAGREES)


def _source(api: Api, asked: EventsAsked, subject: str | None, task: str | None) -> EventSource:
    if subject is None:
        return EventSource(api, asked)
    if asked.app is not None:
        raise BadInput("--app is for all of an app's events; with an id, leave it out.")
    if task is None and JOB_ID.fullmatch(subject):
        return EventSource.of_job(api, asked, subject)
    if task is None and "__" not in subject:
        return EventSource(api, asked.model_copy(update={"entity": subject}))
    return EventSource.of_task(api, asked, *task_named(subject, task))


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


def _print_verification(found: Verification, console: Console) -> None:
    looked_at = f"{counted(found.tasks, 'task')}, {counted(found.events, 'event')}"
    if found.agree:
        console.print(f"{looked_at}: the log and the state table agree.")
        return
    number = counted(len(found.differences), "difference")
    console.print(f"{looked_at}: {number} between the log and the state table.")
    for difference in found.differences:
        _print_difference(difference, console)
    if any(difference.may_be_delay for difference in found.differences):
        hint = "What may be delay: events travel. Try again in a moment."
        notices().print(hint, style="dim", soft_wrap=True)


def _print_difference(difference: DifferenceView, console: Console) -> None:
    delay = "  (may be delay)" if difference.may_be_delay else ""
    console.print(Text(f"{visible(difference.path)}{delay}", style="bold"), soft_wrap=True)
    for name, value in (("log", difference.log), ("table", difference.table)):
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        console.print(Text.assemble((f"  {name:7}", "dim"), visible(said)), soft_wrap=True)
