"""The routes of the API about held tasks: what they wait for, decisions and signals."""

from collections.abc import Callable
from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query

from switchyard.contracts.changes import (
    ApprovalPage,
    DecideTask,
    DecisionView,
    SignalTask,
    TaskDecided,
)
from switchyard.domain.ids import TaskRef
from switchyard.observability import Logger
from switchyard.usecases.jobs.decide_task import TaskDecider
from switchyard.usecases.jobs.list_approvals import HeldApprovals
from switchyard.usecases.jobs.read_jobs import task_ref


def add_held_routes(
    app: APIGatewayHttpResolver,
    decider: Callable[[], TaskDecider],
    approvals: Callable[[], HeldApprovals],
    logger: Logger,
) -> None:
    def known(name: str) -> str:
        """Return what the authorizer read from the key: the tenant, or the key's id."""
        return str(app.current_event.request_context.authorizer.get_lambda[name])

    def ref(job_id: str, task_id: str) -> TaskRef:
        return task_ref(known("tenant"), job_id, task_id)

    @app.get("/approvals")
    def get_approvals(
        limit: Annotated[int, Query(ge=1, le=100)] = 20, cursor: str | None = None
    ) -> ApprovalPage:
        return approvals().page(known("tenant"), limit=limit, cursor=cursor)

    @app.get("/jobs/<job_id>/tasks/<task_id>/decision")
    def get_decision(job_id: str, task_id: str) -> DecisionView:
        return decider().reader.view(ref(job_id, task_id))

    @app.post("/jobs/<job_id>/tasks/<task_id>/decision")
    def post_decision(job_id: str, task_id: str, request: DecideTask) -> TaskDecided:
        by = f"key {known('keyId')}"
        made = decider().decide(ref(job_id, task_id), request, by=by)
        logger.info("task is decided", request_id=made.request_id, approved=request.approved)
        return made

    @app.post("/jobs/<job_id>/tasks/<task_id>/signal")
    def post_signal(job_id: str, task_id: str, request: SignalTask) -> TaskDecided:
        by = f"key {known('keyId')}"
        made = decider().signal(ref(job_id, task_id), request, by=by)
        logger.info("task is signalled", request_id=made.request_id)
        return made
