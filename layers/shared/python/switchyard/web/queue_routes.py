"""The routes of the API about work queues.

A queue's name is `group` or `group/name`: each route about one queue exists in both forms. Those
with `items` and `dead-letters` come first, since no queue may have these names behind a group.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query

from switchyard.contracts.jobs import KEY_HEADER
from switchyard.contracts.scheduling.work_queues import (
    ChangeQueue,
    CreateQueue,
    DeadLetterPage,
    ItemAccepted,
    PutItem,
    QueueDeleted,
    QueueDetails,
    QueueList,
    QueueView,
)
from switchyard.domain.measuring.spans import TRACEPARENT
from switchyard.observability import Logger
from switchyard.usecases.queues.items import QueueItems

Limit = Annotated[int, Query(ge=1, le=100)]


def add_queue_routes(
    app: APIGatewayHttpResolver, items: Callable[[], QueueItems], logger: Logger
) -> None:
    _add_item_routes(app, items, logger)
    _add_routes_of_all(app, items, logger)
    _add_routes_of_one(app, items, logger)
    _add_deletion(app, items, logger)


def _known(app: APIGatewayHttpResolver, name: str) -> str:
    """Return what the authorizer read from the key: the tenant, or the key's id."""
    return str(app.current_event.request_context.authorizer.get_lambda[name])


def _add_item_routes(
    app: APIGatewayHttpResolver, items: Callable[[], QueueItems], logger: Logger
) -> None:
    def put(queue: str, item: PutItem) -> ItemAccepted:
        headers = app.current_event.headers
        accepted = items().put(
            _known(app, "tenant"),
            queue,
            item,
            key=headers.get(KEY_HEADER),
            traceparent=headers.get(TRACEPARENT),
        )
        logger.info("item accepted", request_id=accepted.request_id, queue=queue)
        return accepted

    @app.post("/queues/<group>/items", status_code=HTTPStatus.CREATED)
    def post_group_item(group: str, item: PutItem) -> ItemAccepted:
        return put(group, item)

    @app.post("/queues/<group>/<name>/items", status_code=HTTPStatus.CREATED)
    def post_queue_item(group: str, name: str, item: PutItem) -> ItemAccepted:
        return put(f"{group}/{name}", item)

    @app.get("/queues/<group>/dead-letters")
    def get_group_dead_letters(
        group: str, limit: Limit = 20, cursor: str | None = None
    ) -> DeadLetterPage:
        return items().dead_letters(_known(app, "tenant"), group, limit=limit, cursor=cursor)

    @app.get("/queues/<group>/<name>/dead-letters")
    def get_queue_dead_letters(
        group: str, name: str, limit: Limit = 20, cursor: str | None = None
    ) -> DeadLetterPage:
        queue = f"{group}/{name}"
        return items().dead_letters(_known(app, "tenant"), queue, limit=limit, cursor=cursor)


def _add_routes_of_all(
    app: APIGatewayHttpResolver, items: Callable[[], QueueItems], logger: Logger
) -> None:
    @app.get("/queues")
    def get_queues(cursor: str | None = None) -> QueueList:
        return items().queues.list(_known(app, "tenant"), cursor=cursor)

    @app.post("/queues", status_code=HTTPStatus.CREATED)
    def post_queue(request: CreateQueue) -> QueueView:
        by = _known(app, "keyId")
        created = items().queues.create(_known(app, "tenant"), request, by=by)
        logger.info("queue created", queue=created.name)
        return created


def _add_routes_of_one(
    app: APIGatewayHttpResolver, items: Callable[[], QueueItems], logger: Logger
) -> None:
    @app.get("/queues/<group>")
    def get_group_queue(group: str) -> QueueDetails:
        return items().queues.show(_known(app, "tenant"), group)

    @app.get("/queues/<group>/<name>")
    def get_queue(group: str, name: str) -> QueueDetails:
        return items().queues.show(_known(app, "tenant"), f"{group}/{name}")

    def change(queue: str, request: ChangeQueue) -> QueueView:
        changed = items().queues.change(_known(app, "tenant"), queue, request)
        logger.info("queue changed", queue=queue, version=changed.version)
        return changed

    @app.patch("/queues/<group>")
    def patch_group_queue(group: str, request: ChangeQueue) -> QueueView:
        return change(group, request)

    @app.patch("/queues/<group>/<name>")
    def patch_queue(group: str, name: str, request: ChangeQueue) -> QueueView:
        return change(f"{group}/{name}", request)


def _add_deletion(
    app: APIGatewayHttpResolver, items: Callable[[], QueueItems], logger: Logger
) -> None:
    def delete(queue: str) -> QueueDeleted:
        deleted = items().queues.delete(_known(app, "tenant"), queue)
        logger.info("queue deleted", queue=queue)
        return deleted

    @app.delete("/queues/<group>")
    def delete_group_queue(group: str) -> QueueDeleted:
        return delete(group)

    @app.delete("/queues/<group>/<name>")
    def delete_queue(group: str, name: str) -> QueueDeleted:
        return delete(f"{group}/{name}")
