"""The producer API: each route parses, calls one use case and answers."""

from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap import ApiPorts, api_ports
from switchyard.contracts.changes import (
    CancelAccepted,
    RedriveAccepted,
    RedriveJob,
    TaskCancelAccepted,
)
from switchyard.contracts.events.views import EventPage, EventsAsked, JobEventsAsked
from switchyard.contracts.jobs import (
    KEY_HEADER,
    AddTasks,
    JobAccepted,
    JobView,
    SubmitJob,
    TagWanted,
    TasksAdded,
    TaskView,
)
from switchyard.contracts.overview import Health, JobPage
from switchyard.contracts.triggers import (
    FireTrigger,
    RegisteredTrigger,
    TriggerContent,
    TriggerFired,
    TriggerList,
)
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.errors import TooManyRequests
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job_filters import JobFilter
from switchyard.domain.measuring.spans import TRACEPARENT
from switchyard.domain.states import JobStatus
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.refusals import answer_errors, for_gateway, log_refusal, refusal_for
from switchyard.settings import ApiSettings
from switchyard.usecases.events.read_events import read_events, read_job_events
from switchyard.usecases.health.check_health import check_health
from switchyard.usecases.jobs.list_jobs import list_jobs
from switchyard.usecases.jobs.read_jobs import job_ref, read_job, read_task, task_ref
from switchyard.web.bodies import json_in, unreadable_body
from switchyard.web.definition_routes import add_definition_routes
from switchyard.web.description import described, shown
from switchyard.web.file_routes import add_file_routes
from switchyard.web.held_routes import add_held_routes
from switchyard.web.operations import API_VERSION, VERSION_HEADER
from switchyard.web.pool_routes import add_pool_routes
from switchyard.web.queue_routes import add_queue_routes

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()

app = APIGatewayHttpResolver(enable_validation=True, json_body_deserializer=json_in)
answer_errors(app, logger)


@cache
def ports() -> ApiPorts:
    return api_ports(ApiSettings())


def tenant() -> str:
    """The authorizer read it from the key; no body can say otherwise."""
    authorizer = app.current_event.request_context.authorizer
    return str(authorizer.get_lambda["tenant"])


@app.post("/jobs", status_code=HTTPStatus.CREATED)
def post_job(request: SubmitJob) -> JobAccepted:
    headers = app.current_event.headers
    accepted = ports().submitter.submit(
        tenant(), request, key=headers.get(KEY_HEADER), traceparent=headers.get(TRACEPARENT)
    )
    logger.info(
        "job accepted",
        job_id=accepted.job_id,
        trace_id=accepted.trace_id,
        tasks=accepted.total_tasks,
    )
    metrics.add_metric("JobsSubmitted", MetricUnit.Count, 1)
    return accepted


@app.get("/jobs")
def get_jobs(
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: str | None = None,
    status: JobStatus | None = None,
    tag: TagWanted | None = None,
) -> JobPage:
    wanted = JobFilter(status=status, tag=tag)
    return list_jobs(tenant(), wanted=wanted, limit=limit, cursor=cursor, jobs=ports().jobs)


@app.get("/jobs/<job_id>")
def get_job(job_id: str) -> JobView:
    return read_job(tenant(), job_id, jobs=ports().jobs, files=ports().files)


@app.post("/jobs/<job_id>/tasks")
def post_tasks(job_id: str, request: AddTasks) -> TasksAdded:
    added = ports().adder.add(job_ref(tenant(), job_id), request)
    logger.info("tasks added", job_id=job_id, tasks=len(added.added_tasks), problem=added.problem)
    metrics.add_metric("TasksAdded", MetricUnit.Count, len(added.added_tasks))
    return added


@app.get("/jobs/<job_id>/tasks/<task_id>")
def get_task(job_id: str, task_id: str) -> TaskView:
    adapters = ports()
    return read_task(
        tenant(),
        job_id,
        task_id,
        graph=adapters.graph,
        payloads=adapters.payloads,
        files=adapters.files,
        jobs=adapters.jobs,
    )


@app.post("/jobs/<job_id>/cancel", status_code=HTTPStatus.ACCEPTED)
def post_cancel(job_id: str) -> CancelAccepted:
    accepted = ports().cancels.request_cancel(job_ref(tenant(), job_id))
    logger.info("job is to be cancelled", job_id=job_id)
    return accepted


@app.post("/jobs/<job_id>/tasks/<task_id>/cancel", status_code=HTTPStatus.ACCEPTED)
def post_task_cancel(job_id: str, task_id: str) -> TaskCancelAccepted:
    accepted = ports().cancels.cancel_task(task_ref(tenant(), job_id, task_id))
    logger.info("task is to be cancelled", request_id=accepted.request_id, status=accepted.status)
    return accepted


@app.post("/jobs/<job_id>/redrive", status_code=HTTPStatus.ACCEPTED)
def post_redrive(job_id: str, request: RedriveJob) -> RedriveAccepted:
    accepted = ports().redrives.request_redrive(job_ref(tenant(), job_id), request)
    logger.info("job is to be redriven", job_id=job_id, tasks=accepted.reopened_tasks)
    metrics.add_metric("JobsRedriven", MetricUnit.Count, 1)
    return accepted


add_held_routes(app, lambda: ports().decider, lambda: ports().approvals, logger)
add_file_routes(app, lambda: ports().uploads)
add_definition_routes(app, ports, logger)
add_queue_routes(app, lambda: ports().queue_items, logger)
add_pool_routes(app, lambda: ports().pools)


@app.get("/jobs/<job_id>/events")
def get_job_events(job_id: str) -> EventPage:
    adapters = ports()
    return read_job_events(
        JobRef(tenant(), job_id),
        JobEventsAsked.of(app.current_event.query_string_parameters),
        app=adapters.app,
        reader=adapters.reader,
        jobs=adapters.jobs,
        now_ms=adapters.clock.now_ms(),
    )


@app.get("/events")
def get_events() -> EventPage:
    adapters = ports()
    asked = EventsAsked.of(app.current_event.query_string_parameters)
    return read_events(tenant(), asked, reader=adapters.reader, now_ms=adapters.clock.now_ms())


@app.get("/triggers")
def get_triggers() -> TriggerList:
    return ports().triggers.all(tenant())


@app.get("/triggers/<name>")
def get_trigger(name: str) -> RegisteredTrigger:
    return ports().triggers.read(tenant(), name)


@app.put("/triggers/<name>")
def put_trigger(name: str, content: TriggerContent) -> RegisteredTrigger:
    registered = ports().triggers.put(tenant(), name, content)
    logger.info("trigger registered", trigger=name)
    return registered


@app.delete("/triggers/<name>")
def delete_trigger(name: str) -> RegisteredTrigger:
    deleted = ports().triggers.delete(tenant(), name)
    logger.info("trigger deleted", trigger=name)
    return deleted


@app.post("/triggers/<name>/enable")
def post_trigger_enable(name: str) -> RegisteredTrigger:
    return ports().triggers.switch(tenant(), name, on=True)


@app.post("/triggers/<name>/disable")
def post_trigger_disable(name: str) -> RegisteredTrigger:
    return ports().triggers.switch(tenant(), name, on=False)


@app.post("/triggers/<name>/fire", status_code=HTTPStatus.ACCEPTED)
def post_trigger_fire(name: str, request: FireTrigger) -> TriggerFired:
    fired = ports().triggers.fire(tenant(), name, request)
    logger.info("trigger fired on request", trigger=name, event_id=fired.event_id)
    return fired


@app.get("/health")
def get_health() -> Health:
    return check_health(stage=ports().stage, pause_switch=ports().pause_switch)


@app.get("/openapi.json")
def get_openapi() -> Response[str]:
    return described(app)


@app.get("/docs")
def get_docs() -> Response[str]:
    return shown(app)


def beyond_limits(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """The refusal, if it is. Asked first: what turns out to be malformed is a request as well."""
    given = event["requestContext"]["authorizer"]["lambda"]
    try:
        uncounted = ports().gate.admit(Caller(given["tenant"], given["keyId"]))
    except TooManyRequests as error:
        metrics.add_metric("RequestsRefused", MetricUnit.Count, 1)
        return for_gateway(refusal_for(error))
    if uncounted is not None:
        logger.warning("request was let in uncounted", reason=uncounted)
    return None


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    metrics.add_metric("Requests", MetricUnit.Count, 1)
    answer = beyond_limits(event) or unreadable_body(event) or app.resolve(event, context)
    answer.setdefault("headers", {})[VERSION_HEADER] = API_VERSION
    if HTTPStatus.BAD_REQUEST <= answer["statusCode"] < HTTPStatus.INTERNAL_SERVER_ERROR:
        log_refusal(logger, event, answer["statusCode"])
    return answer
