"""The producer API: each route parses, calls one use case and answers."""

from functools import cache
from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response, content_types
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap import ApiPorts, api_ports
from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition, TaskDefinition
from switchyard.contracts.event_views import EventPage, EventsAsked, JobEventsAsked
from switchyard.contracts.jobs import JobAccepted, JobPage, JobView, SubmitJob, TaskView
from switchyard.contracts.problems import ProblemDetails, entries, validation_problems
from switchyard.domain.errors import (
    Conflict,
    Invalid,
    Problem,
    Rejected,
    Unavailable,
    UnknownJob,
    UnknownTask,
)
from switchyard.domain.ids import JobRef
from switchyard.observability import Metrics, MetricUnit, Tracer, get_logger
from switchyard.settings import ApiSettings
from switchyard.usecases.put_definition import put_definition
from switchyard.usecases.read_events import read_events, read_job_events
from switchyard.usecases.read_jobs import list_jobs, read_job, read_task
from switchyard.usecases.submit_job import submit_job

logger = get_logger()
metrics = Metrics()
tracer = Tracer()
app = APIGatewayHttpResolver(enable_validation=True)


@cache
def ports() -> ApiPorts:
    return api_ports(ApiSettings())


def tenant() -> str:
    """The authorizer read it from the key; no body can say otherwise."""
    authorizer = app.current_event.request_context.authorizer
    return str(authorizer.get_lambda["tenant"])


@app.post("/jobs", status_code=HTTPStatus.CREATED)
def post_job(request: SubmitJob) -> JobAccepted:
    yard = ports()
    accepted = submit_job(
        tenant(),
        request,
        intake=yard.intake,
        definitions=yard.definitions,
        emitter=yard.emitter,
        clock=yard.clock,
        ids=yard.ids,
    )
    logger.info("job accepted", job_id=accepted.job_id, tasks=accepted.total_tasks)
    metrics.add_metric("JobsSubmitted", MetricUnit.Count, 1)
    return accepted


@app.get("/jobs")
def get_jobs(limit: Annotated[int, Query(ge=1, le=100)] = 20, cursor: str | None = None) -> JobPage:
    return list_jobs(tenant(), limit=limit, cursor=cursor, jobs=ports().jobs)


@app.get("/jobs/<job_id>")
def get_job(job_id: str) -> JobView:
    return read_job(tenant(), job_id, jobs=ports().jobs)


@app.get("/jobs/<job_id>/tasks/<task_id>")
def get_task(job_id: str, task_id: str) -> TaskView:
    yard = ports()
    return read_task(
        tenant(), job_id, task_id, graph=yard.graph, payloads=yard.payloads, bucket=yard.bucket
    )


@app.get("/jobs/<job_id>/events")
def get_job_events(job_id: str) -> EventPage:
    yard = ports()
    return read_job_events(
        JobRef(tenant(), job_id),
        JobEventsAsked.of(app.current_event.query_string_parameters),
        app=yard.app,
        reader=yard.reader,
        jobs=yard.jobs,
        now_ms=yard.clock.now_ms(),
    )


@app.get("/events")
def get_events() -> EventPage:
    yard = ports()
    asked = EventsAsked.of(app.current_event.query_string_parameters)
    return read_events(tenant(), asked, reader=yard.reader, now_ms=yard.clock.now_ms())


@app.put("/task-definitions/<name>")
def put_task_definition(name: str, definition: TaskDefinition) -> RegisteredDefinition:
    return put_definition(tenant(), name, definition, definitions=ports().definitions)


@app.get("/task-definitions")
def get_task_definitions() -> DefinitionList:
    return DefinitionList(definitions=ports().definitions.all(tenant()))


@app.exception_handler(RequestValidationError)
def refuse_shape(error: RequestValidationError) -> Response[str]:
    return _refusal(HTTPStatus.BAD_REQUEST, problems=validation_problems(error.errors()))


@app.exception_handler(Invalid)
def refuse_content(error: Invalid) -> Response[str]:
    return _refusal(HTTPStatus.BAD_REQUEST, problems=list(error.problems))


@app.exception_handler([UnknownJob, UnknownTask])
def refuse_unknown(error: Rejected) -> Response[str]:
    return _refusal(HTTPStatus.NOT_FOUND, str(error))


@app.exception_handler(Conflict)
def refuse_conflict(error: Conflict) -> Response[str]:
    return _refusal(HTTPStatus.CONFLICT, str(error))


@app.exception_handler(Rejected)
def refuse(error: Rejected) -> Response[str]:
    return _refusal(HTTPStatus.BAD_REQUEST, str(error))


@app.exception_handler(Unavailable)
def give_way(error: Unavailable) -> Response[str]:
    logger.error("a dependency did not answer", reason=str(error))
    return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "try again in a moment")


@app.not_found
def no_such_route(_error: NotFoundError) -> Response[str]:
    return _refusal(HTTPStatus.NOT_FOUND, f"there is no {app.current_event.path}")


def _refusal(
    status: HTTPStatus, detail: str = "", *, problems: list[Problem] | None = None
) -> Response[str]:
    listed = entries(problems or [])
    body = ProblemDetails(
        title=status.phrase,
        status=status,
        detail=detail or "; ".join(map(str, problems or [])),
        problems=listed,
    )
    return Response(status, content_types.APPLICATION_JSON, body.model_dump_json(by_alias=True))


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    metrics.add_metric("Requests", MetricUnit.Count, 1)
    return app.resolve(event, context)
