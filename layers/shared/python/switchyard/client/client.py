"""The API for programs: what may pass is waited out, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from pydantic import BaseModel, ValidationError

from switchyard.client.connection import Connection
from switchyard.client.errors import (
    KeyRefused,
    NotConnected,
    RefusedForNow,
    StillRunning,
    TooManyRequests,
    Unreachable,
    UnusableJob,
)
from switchyard.client.event_source import EventSource
from switchyard.client.files import saved
from switchyard.client.following import Following
from switchyard.client.job import Job, Task, id_of, require_job
from switchyard.client.patience import Passing, patiently
from switchyard.client.routes import Routes
from switchyard.client.statuses import FINAL
from switchyard.client.uploads import LocalFile, local_files, upload
from switchyard.client.waiting import as_it_changes
from switchyard.clock import system_clock, system_ids
from switchyard.contracts.changes import (
    CancelAccepted,
    DecideTask,
    DecisionView,
    HeldApproval,
    RedriveAccepted,
    RedriveJob,
    SignalTask,
    TaskCancelAccepted,
    TaskDecided,
)
from switchyard.contracts.events.views import EventsAsked, EventView
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.scheduling.work_queues import PutItem
from switchyard.contracts.triggers import (
    FireTrigger,
    RegisteredTrigger,
    TriggerContent,
    TriggerFired,
)

if TYPE_CHECKING:
    import httpx

    from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
    from switchyard.contracts.files import FileContent
    from switchyard.contracts.jobs import FileLink, JobAccepted, JobView, TasksAdded, TaskView
    from switchyard.contracts.overview import JobPage, JobSummary
    from switchyard.contracts.scheduling.work_queues import ItemAccepted
    from switchyard.ports import Clock

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

PATIENCE_SECONDS: Final = 60.0
JOBS_PER_PAGE: Final = 100

_ANYTHING_PASSING: Final[tuple[type[Passing], ...]] = (RefusedForNow, Unreachable)
_NOT_DONE: Final[tuple[type[Passing], ...]] = (RefusedForNow, NotConnected, TooManyRequests)
"""Errors after which a request may be sent again that must not be done twice."""


class Client:
    """A tenant's connection to a stage. Every call may raise `ClientError`.

    What may pass — an outage, a limit, a job that is just changing — is waited for, up to
    `patience_seconds`. Use it in a `with` block, or `close` it.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`clock` and `transport` are for tests: the system's and the network otherwise."""
        if not (key and key.isascii() and key.isprintable()):
            raise KeyRefused("The key is empty or contains characters that no API key has.")
        self._connection = Connection(url, key, transport=transport)
        self._api = Routes(self._connection)
        self._clock = clock or system_clock()
        self._patience_seconds = patience_seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def submit(
        self,
        job: Job,
        *,
        key: str | None = None,
        files: Mapping[str, Path | str] | None = None,
    ) -> JobAccepted:
        """Start a job, once, however often it has to be sent.

        Give a `key` of your own to be answered with the same job when your program submits it
        again within 24 hours. `files` of this machine are uploaded first; tasks ask for them by
        their names, as in `job/brief`.
        """
        require_job(job)
        submission, one_key = job.submission(), key or system_ids().new_secret()
        contents = {file.name: self._uploaded(file) for file in local_files(files or {})}
        if contents:
            submission = submission.model_copy(update={"files": contents})
        return self._ask(lambda: self._api.submit(submission, key=one_key))

    def _uploaded(self, file: LocalFile) -> FileContent:
        content = file.measured()
        self._ask(lambda: upload(self._api, file, content))
        return content

    def add(self, job_id: str, more: Job) -> TasksAdded:
        """Add the tasks of `more` to a job that has not ended, once each, however often sent."""
        require_job(more)
        addition = more.addition()
        return self._ask(lambda: self._api.add(job_id, addition))

    def jobs(self, *, status: str | None = None, tag: str | None = None) -> Iterator[JobSummary]:
        """The newest first, page by page; `tag` reads `key:value`."""
        asked = {"status": status, "tag": tag}
        page = self._jobs(asked)
        yield from page.jobs
        while page.cursor is not None:
            page = self._jobs(asked | {"cursor": page.cursor})
            yield from page.jobs

    def job(self, job_id: str) -> JobView:
        return self._ask(lambda: self._api.job(job_id))

    def task(self, job_id: str, task: Task | str) -> TaskView:
        """Return a task with its input, its output and what it cost."""
        task_id = id_of(task)
        return self._ask(lambda: self._api.task(job_id, task_id))

    def wait(self, job_id: str, *, timeout_seconds: float | None = None) -> JobView:
        """The job once it has settled, however it ended: look at its `status`.

        Raise `StillRunning` when the time is over; the job goes on.
        """
        deadline = None if timeout_seconds is None else self._clock.monotonic() + timeout_seconds
        for job in as_it_changes(self.job(job_id), lambda: self.job(job_id), self._clock):
            over = deadline is not None and self._clock.monotonic() >= deadline
            if over and job.status not in FINAL:
                raise StillRunning(job_id, job.status, timeout_seconds or 0)
        return job

    def stream(self, job_id: str) -> Iterator[EventView]:
        """The events of a job and its tasks as they come, those so far first, until it settled."""
        source = EventSource.of_job(self._api, EventsAsked(), job_id)
        following = Following(source, self._clock, patience_seconds=self._patience_seconds)
        for news in following.to_the_end():
            yield from news

    def save(self, link: FileLink, folder: Path) -> Path:
        """Download a file of a task (`task(…).files`) into a folder; return its path there."""
        return self._ask(lambda: saved(link.name, self._api.download(link), folder))

    def cancel(self, job_id: str) -> CancelAccepted:
        """Cancel a job; tasks that have completed stay completed. `wait` returns its end."""
        return self._ask(lambda: self._api.cancel(job_id))

    def cancel_task(self, job_id: str, task: Task | str) -> TaskCancelAccepted:
        task_id = id_of(task)
        return self._ask(lambda: self._api.cancel_task(job_id, task_id))

    def approvals(self) -> Iterator[HeldApproval]:
        """Yield the held approvals of all open jobs, those of the newest first, page by page."""
        cursor: str | None = None
        while True:
            page = self._ask(partial(self._api.approvals, limit=JOBS_PER_PAGE, cursor=cursor))
            yield from page.approvals
            if page.cursor is None:
                return
            cursor = page.cursor

    def decision(self, job_id: str, task: Task | str) -> DecisionView:
        """Return what a held task waits for, and what is decided on."""
        task_id = id_of(task)
        return self._ask(lambda: self._api.decision(job_id, task_id))

    def decide(
        self, job_id: str, task: Task | str, *, approved: bool, basis: str, **said: Any
    ) -> TaskDecided:
        """Approve or reject what `decision` showed, whose `basis` this is, once, however often it
        has to be sent. `said` are `comment`, `value` and `decided_by`.
        """
        task_id, given = id_of(task), {"approved": approved, "basis": basis, **said}
        request = DecideTask.model_validate({"request_id": system_ids().new_secret(), **given})
        return self._ask(lambda: self._api.decide(job_id, task_id, request))

    def signal(self, job_id: str, task: Task | str, value: Any = None) -> TaskDecided:
        """Give a task its signal, once, however often it has to be sent."""
        task_id = id_of(task)
        request = SignalTask(value=value, request_id=system_ids().new_secret())
        return self._ask(lambda: self._api.signal(job_id, task_id, request))

    def redrive(self, job_id: str, *tasks: Task | str, **changes: Any) -> RedriveAccepted:
        """Run again what did not complete, or just these tasks, with what follows.

        `changes` are `input` (of exactly one task), `model`, `max_turns`, `timeout` in
        milliseconds, `max_cost_usd` and `max_tokens`; `latest=True` runs the latest version of
        their definitions. The tasks in `from_` run with everything after them, completed or not;
        `dry_run=True` only answers with what would run. Not sent again once it may have arrived:
        then `Unreachable`, and `job` tells whether it runs.
        """
        first = {"from_": [*map(id_of, changes.pop("from_"))]} if "from_" in changes else {}
        content = {"tasks": [*map(id_of, tasks)], **changes, **first}
        asked = _checked(RedriveJob, content, "This cannot be redriven:")
        return self._ask_once(lambda: self._api.redrive(job_id, asked))

    def put(
        self, queue: str, definition: str, *, key: str | None = None, **item: Any
    ) -> ItemAccepted:
        """Put an item into a work queue, a job of one task, once, however often it has to be sent.

        `item` may have `input`, `priority` and `metadata`; `key` is as in `submit`.
        """
        content = {"definition": definition, **item}
        asked = _checked(PutItem, content, "The item cannot be:")
        one_key = key or system_ids().new_secret()
        return self._ask(lambda: self._api.put_item(queue, asked, key=one_key))

    def define(self, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        """Register what tasks of this name do; unchanged, it keeps its version."""
        return self._ask(lambda: self._api.put_definition(name, definition))

    def triggers(self) -> tuple[RegisteredTrigger, ...]:
        """Return the triggers by name, with their last and next runs."""
        return self._ask(self._api.triggers).triggers

    def trigger(self, name: str) -> RegisteredTrigger:
        return self._ask(lambda: self._api.trigger(name))

    def put_trigger(self, name: str, content: TriggerContent) -> RegisteredTrigger:
        """Add a trigger, or change it; a disabled one stays disabled."""
        return self._ask(lambda: self._api.put_trigger(name, content))

    def delete_trigger(self, name: str) -> RegisteredTrigger:
        """Remove it for good; jobs that it has started go on. What it was is returned."""
        return self._ask_once(lambda: self._api.delete_trigger(name))

    def switch_trigger(self, name: str, *, on: bool) -> RegisteredTrigger:
        """Let a trigger start jobs again, or start nothing."""
        return self._ask(lambda: self._api.switch_trigger(name, on=on))

    def fire_trigger(self, name: str, event: Mapping[str, Any] | None = None) -> TriggerFired:
        """Try a trigger now. One that waits for events needs an `event`, as EventBridge says it.

        Sent twice, an event with an `id` of its own (for a schedule: with a `time`) starts one job.
        """
        request = FireTrigger(event=None if event is None else dict(event))
        return self._ask_once(lambda: self._api.fire_trigger(name, request))

    def _jobs(self, asked: dict[str, str | None]) -> JobPage:
        return self._ask(lambda: self._api.jobs(limit=JOBS_PER_PAGE, **asked))

    def _ask(self, ask: Callable[[], T]) -> T:
        """Ask what may be done twice without harm."""
        return self._patiently(ask, _ANYTHING_PASSING)

    def _ask_once(self, ask: Callable[[], T]) -> T:
        return self._patiently(ask, _NOT_DONE)

    def _patiently(self, ask: Callable[[], T], passing: tuple[type[Passing], ...]) -> T:
        return patiently(ask, self._clock, passing=passing, seconds=self._patience_seconds)


def _checked(model: type[M], content: Mapping[str, Any], sentence: str) -> M:
    """Return the request. Raise `UnusableJob` with the sentence and every problem."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise UnusableJob(sentence, validation_problems(error.errors())) from error
