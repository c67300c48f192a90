"""The calls of the producer API about work queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from pydantic import BaseModel

    from switchyard.client.connection import Connection, M
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


class QueueRoutes:
    """Every call may raise `ClientError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def queues(self, cursor: str | None = None) -> QueueList:
        from switchyard.contracts.scheduling.work_queues import QueueList

        return self._call(QueueList, "GET", "/queues", params={"cursor": cursor} if cursor else {})

    def create_queue(self, queue: CreateQueue) -> QueueView:
        from switchyard.contracts.scheduling.work_queues import QueueView

        return self._call(QueueView, "POST", "/queues", json=body_of(queue))

    def queue(self, name: str) -> QueueDetails:
        """Read a queue and the tasks in it, counted up to a bound."""
        from switchyard.contracts.scheduling.work_queues import QueueDetails

        return self._call(QueueDetails, "GET", _path(name))

    def change_queue(self, name: str, change: ChangeQueue) -> QueueView:
        from switchyard.contracts.scheduling.work_queues import QueueView

        return self._call(QueueView, "PATCH", _path(name), json=body_of(change))

    def delete_queue(self, name: str) -> QueueDeleted:
        from switchyard.contracts.scheduling.work_queues import QueueDeleted

        return self._call(QueueDeleted, "DELETE", _path(name))

    def put_item(self, queue: str, item: PutItem, *, key: str) -> ItemAccepted:
        """However often it is sent under the same key, it is one item."""
        from switchyard.contracts.jobs import KEY_HEADER
        from switchyard.contracts.scheduling.work_queues import ItemAccepted

        path = f"{_path(queue)}/items"
        return self._call(ItemAccepted, "POST", path, json=body_of(item), headers={KEY_HEADER: key})

    def dead_letters(self, queue: str, *, limit: int, cursor: str | None = None) -> DeadLetterPage:
        """The tasks of a queue that failed for good, newest first."""
        from switchyard.contracts.scheduling.work_queues import DeadLetterPage

        given = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        return self._call(DeadLetterPage, "GET", f"{_path(queue)}/dead-letters", params=given)

    def _call(self, answer: type[M], method: str, path: str, **request: Any) -> M:
        return self._connection.call(answer, method, path, **request)


def body_of(model: BaseModel) -> Any:
    """Return only what the caller said: the API's defaults are its own."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _path(name: str) -> str:
    """Return the path of a queue, whose name is `group` or `group/name`."""
    return f"/queues/{quote(name)}"
