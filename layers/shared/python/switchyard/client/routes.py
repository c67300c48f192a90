"""The producer API, as typed calls: each is one request.

Each call imports the models of its answer when it is made, so that a program that only lists jobs
does not wait for the models of definitions, events and triggers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from switchyard.client.queue_routes import QueueRoutes, body_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from switchyard.contracts.changes import (
        ApprovalPage,
        CancelAccepted,
        DecideTask,
        DecisionView,
        RedriveAccepted,
        RedriveJob,
        SignalTask,
        TaskCancelAccepted,
        TaskDecided,
    )
    from switchyard.contracts.definitions import (
        DefinitionDeleted,
        DefinitionList,
        RegisteredDefinition,
        TaskDefinition,
    )
    from switchyard.contracts.events.views import EventPage, EventsAsked, JobEventsAsked
    from switchyard.contracts.files import FileContent, UploadLink
    from switchyard.contracts.jobs import (
        AddTasks,
        FileLink,
        JobAccepted,
        JobView,
        SubmitJob,
        TasksAdded,
        TaskView,
    )
    from switchyard.contracts.overview import Health, JobPage, PoolList
    from switchyard.contracts.triggers import (
        FireTrigger,
        RegisteredTrigger,
        TriggerContent,
        TriggerFired,
        TriggerList,
    )


class Routes(QueueRoutes):
    """The routes of the API. Every call may raise `ClientError`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def submit(self, job: SubmitJob, *, key: str) -> JobAccepted:
        """Submit a job; however often it is sent under the same key, it is one job."""
        from switchyard.contracts.jobs import KEY_HEADER, JobAccepted

        return self._call(
            JobAccepted, "POST", "/jobs", json=body_of(job), headers={KEY_HEADER: key}
        )

    def add(self, job_id: str, tasks: AddTasks) -> TasksAdded:
        from switchyard.contracts.jobs import TasksAdded

        return self._call(TasksAdded, "POST", f"/jobs/{job_id}/tasks", json=body_of(tasks))

    def jobs(
        self,
        *,
        limit: int,
        cursor: str | None = None,
        status: str | None = None,
        tag: str | None = None,
    ) -> JobPage:
        from switchyard.contracts.overview import JobPage

        asked = {"limit": limit, "cursor": cursor, "status": status, "tag": tag}
        return self._call(JobPage, "GET", "/jobs", params=given(asked))

    def job(self, job_id: str) -> JobView:
        from switchyard.contracts.jobs import JobView

        return self._call(JobView, "GET", f"/jobs/{job_id}")

    def task(self, job_id: str, task_id: str) -> TaskView:
        from switchyard.contracts.jobs import TaskView

        return self._call(TaskView, "GET", f"/jobs/{job_id}/tasks/{_quoted(task_id)}")

    def cancel(self, job_id: str) -> CancelAccepted:
        from switchyard.contracts.changes import CancelAccepted

        return self._call(CancelAccepted, "POST", f"/jobs/{job_id}/cancel")

    def cancel_task(self, job_id: str, task_id: str) -> TaskCancelAccepted:
        from switchyard.contracts.changes import TaskCancelAccepted

        path = f"/jobs/{job_id}/tasks/{_quoted(task_id)}/cancel"
        return self._call(TaskCancelAccepted, "POST", path)

    def approvals(self, *, limit: int, cursor: str | None = None) -> ApprovalPage:
        from switchyard.contracts.changes import ApprovalPage

        given = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        return self._call(ApprovalPage, "GET", "/approvals", params=given)

    def decision(self, job_id: str, task_id: str) -> DecisionView:
        from switchyard.contracts.changes import DecisionView

        return self._call(DecisionView, "GET", f"/jobs/{job_id}/tasks/{_quoted(task_id)}/decision")

    def decide(self, job_id: str, task_id: str, request: DecideTask) -> TaskDecided:
        from switchyard.contracts.changes import TaskDecided

        path = f"/jobs/{job_id}/tasks/{_quoted(task_id)}/decision"
        return self._call(TaskDecided, "POST", path, json=body_of(request))

    def signal(self, job_id: str, task_id: str, request: SignalTask) -> TaskDecided:
        from switchyard.contracts.changes import TaskDecided

        path = f"/jobs/{job_id}/tasks/{_quoted(task_id)}/signal"
        return self._call(TaskDecided, "POST", path, json=body_of(request))

    def redrive(self, job_id: str, request: RedriveJob) -> RedriveAccepted:
        from switchyard.contracts.changes import RedriveAccepted

        path = f"/jobs/{job_id}/redrive"
        return self._call(RedriveAccepted, "POST", path, json=body_of(request))

    def events(self, asked: EventsAsked) -> EventPage:
        from switchyard.contracts.events.views import EventPage

        return self._call(EventPage, "GET", "/events", extra="allow", params=body_of(asked))

    def job_events(self, job_id: str, asked: JobEventsAsked) -> EventPage:
        from switchyard.contracts.events.views import EventPage

        path = f"/jobs/{job_id}/events"
        return self._call(EventPage, "GET", path, extra="allow", params=body_of(asked))

    def put_definition(self, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        from switchyard.contracts.definitions import RegisteredDefinition

        path = f"/task-definitions/{name}"
        return self._call(RegisteredDefinition, "PUT", path, json=body_of(definition))

    def definitions(self, cursor: str | None = None) -> DefinitionList:
        from switchyard.contracts.definitions import DefinitionList

        given = {"cursor": cursor} if cursor else {}
        return self._call(DefinitionList, "GET", "/task-definitions", params=given)

    def definition(self, name: str, version: int | None = None) -> RegisteredDefinition:
        """The latest version, unless another is asked for."""
        from switchyard.contracts.definitions import RegisteredDefinition

        which = f"/versions/{version}" if version is not None else ""
        return self._call(RegisteredDefinition, "GET", f"/task-definitions/{name}{which}")

    def delete_definition(self, name: str) -> DefinitionDeleted:
        from switchyard.contracts.definitions import DefinitionDeleted

        return self._call(DefinitionDeleted, "DELETE", f"/task-definitions/{name}")

    def triggers(self) -> TriggerList:
        from switchyard.contracts.triggers import TriggerList

        return self._call(TriggerList, "GET", "/triggers")

    def trigger(self, name: str) -> RegisteredTrigger:
        from switchyard.contracts.triggers import RegisteredTrigger

        return self._call(RegisteredTrigger, "GET", f"/triggers/{name}")

    def put_trigger(self, name: str, content: TriggerContent) -> RegisteredTrigger:
        from switchyard.contracts.triggers import RegisteredTrigger

        return self._call(RegisteredTrigger, "PUT", f"/triggers/{name}", json=body_of(content))

    def delete_trigger(self, name: str) -> RegisteredTrigger:
        from switchyard.contracts.triggers import RegisteredTrigger

        return self._call(RegisteredTrigger, "DELETE", f"/triggers/{name}")

    def switch_trigger(self, name: str, *, on: bool) -> RegisteredTrigger:
        from switchyard.contracts.triggers import RegisteredTrigger

        path = f"/triggers/{name}/{'enable' if on else 'disable'}"
        return self._call(RegisteredTrigger, "POST", path)

    def fire_trigger(self, name: str, request: FireTrigger) -> TriggerFired:
        from switchyard.contracts.triggers import TriggerFired

        return self._call(TriggerFired, "POST", f"/triggers/{name}/fire", json=body_of(request))

    def download(self, link: FileLink) -> Iterator[bytes]:
        """A file of a task, piece by piece."""
        return self._connection.download(link.url)

    def upload_link(self, content: FileContent) -> UploadLink:
        from switchyard.contracts.files import UploadLink

        return self._call(UploadLink, "POST", "/files", json=body_of(content))

    def upload(self, url: str, headers: Mapping[str, str], content: Iterator[bytes]) -> None:
        """Send a file to the address of its upload link."""
        self._connection.upload(url, headers, content)

    def health(self) -> Health:
        from switchyard.contracts.overview import Health

        return self._call(Health, "GET", "/health")

    def pools(self) -> PoolList:
        from switchyard.contracts.overview import PoolList

        return self._call(PoolList, "GET", "/pools")


def _quoted(task_id: str) -> str:
    """Encode an id for a path: that of a fan-out's item has brackets."""
    return quote(task_id, safe="")


def given(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the parameters of a request that are not given."""
    return {name: value for name, value in asked.items() if value is not None}
