"""The producer API, as typed calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from cli.api_errors import refusal, unreachable
from cli.errors import Unreachable
from cli.stages import Endpoint, Stage
from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition, TaskDefinition
from switchyard.contracts.event_views import EventPage, EventsAsked, JobEventsAsked
from switchyard.contracts.jobs import JobAccepted, JobPage, JobView, SubmitJob, TaskView

M = TypeVar("M", bound=BaseModel)

TIMEOUT: Final = httpx.Timeout(30, connect=5)


class Api:
    def __init__(self, endpoint: Endpoint, transport: httpx.BaseTransport | None = None) -> None:
        self.endpoint = endpoint
        with self._translated():
            self._client = httpx.Client(
                base_url=endpoint.url,
                headers={"x-api-key": endpoint.key},
                timeout=TIMEOUT,
                transport=transport,
                # A proxy for the internet cannot reach a cloud on this machine.
                trust_env=endpoint.stage is not Stage.LOCAL,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def submit(self, job: SubmitJob) -> JobAccepted:
        return self._call(JobAccepted, "POST", "/jobs", json=_body(job))

    def jobs(self, *, limit: int, cursor: str | None) -> JobPage:
        given = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        return self._call(JobPage, "GET", "/jobs", params=given)

    def job(self, job_id: str) -> JobView:
        return self._call(JobView, "GET", f"/jobs/{job_id}")

    def task(self, job_id: str, task_id: str) -> TaskView:
        return self._call(TaskView, "GET", f"/jobs/{job_id}/tasks/{task_id}")

    def events(self, asked: EventsAsked) -> EventPage:
        return self._call(EventPage, "GET", "/events", extra="allow", params=_body(asked))

    def job_events(self, job_id: str, asked: JobEventsAsked) -> EventPage:
        path = f"/jobs/{job_id}/events"
        return self._call(EventPage, "GET", path, extra="allow", params=_body(asked))

    def put_definition(self, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        path = f"/task-definitions/{name}"
        return self._call(RegisteredDefinition, "PUT", path, json=_body(definition))

    def definitions(self) -> tuple[RegisteredDefinition, ...]:
        return self._call(DefinitionList, "GET", "/task-definitions").definitions

    def _call(
        self,
        answer: type[M],
        method: str,
        path: str,
        *,
        extra: Literal["ignore", "allow"] = "ignore",
        **request: Any,
    ) -> M:
        with self._translated():
            response = self._client.request(method, path, **request)
        if not response.is_success:
            raise refusal(response, self.endpoint)
        try:
            return answer.model_validate_json(response.content, extra=extra)
        except ValidationError as error:
            raise Unreachable(
                f"{self.endpoint.url} answered, but not as a Switchyard API does. "
                "Is the URL right, and is this Switchyard as new as that one?"
            ) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise unreachable(error, self.endpoint) from error


def _body(model: BaseModel) -> Any:
    """Only what the user wrote: the API's defaults are its own."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)
