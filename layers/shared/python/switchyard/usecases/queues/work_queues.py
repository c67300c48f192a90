"""Creates, lists, shows, changes and deletes the work queues of a tenant."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.contracts.scheduling.work_queues import (
    ChangeQueue,
    ClassCounts,
    CreateQueue,
    QueueDeleted,
    QueueDetails,
    QueueList,
    QueueView,
)
from switchyard.contracts.wire import instant
from switchyard.domain.errors import Conflict, Invalid, Problem, Rejected
from switchyard.domain.ids import DEFAULT_QUEUE, QUEUE_NAME
from switchyard.domain.scheduling.classes import PriorityClass
from switchyard.domain.scheduling.work_queues import (
    DEFAULT_GROUPS,
    MOST_QUEUES,
    QueueInUse,
    UnknownWorkQueue,
    WorkQueue,
    problem_with_group,
)
from switchyard.domain.text import did_you_mean
from switchyard.ports import Clock, DefinitionStore
from switchyard.ports.work_queues import Contents, QueueContents, WorkQueueStore

QUEUES_PER_PAGE: Final = 100
MOST_NAMED: Final = 5
SECONDS: Final = 20  # Lambda ends the call at 30 s


@dataclass(frozen=True, kw_only=True)
class WorkQueues:
    store: WorkQueueStore
    contents: QueueContents
    definitions: DefinitionStore
    clock: Clock
    groups: tuple[str, ...] = DEFAULT_GROUPS

    def create(self, tenant: str, request: CreateQueue, *, by: str | None = None) -> QueueView:
        """Raise `Invalid`, or `Conflict` if there is one of its name."""
        problem = problem_with_group(request.name, self.groups)
        if problem:
            raise Invalid([Problem(("name",), problem)])
        if request.name == DEFAULT_QUEUE:
            raise Conflict(f"the queue {DEFAULT_QUEUE!r} always exists; choose another name")
        self._require_room(tenant)
        new = WorkQueue(
            tenant=tenant,
            name=request.name,
            created_by=by,
            created_at_ms=self.clock.now_ms(),
            **_settings(request, PriorityClass.NORMAL),
        )
        if not self.store.create(new):
            raise Conflict(f"there is a queue {request.name!r} already; change it instead")
        return QueueView.of(new)

    def list(self, tenant: str, *, cursor: str | None) -> QueueList:
        """List queues by name, `default` first. Raise `Rejected` for a cursor that is not ours."""
        if cursor is not None and not QUEUE_NAME.fullmatch(cursor):
            raise Rejected("cursor: not one that a listing returned")
        page = self.store.page(tenant, limit=QUEUES_PER_PAGE, after=cursor)
        first = (_default(tenant),) if cursor is None else ()
        return QueueList(queues=tuple(map(QueueView.of, (*first, *page.queues))), cursor=page.after)

    def show(self, tenant: str, name: str) -> QueueDetails:
        """Raise `UnknownWorkQueue`."""
        queue = self._found(tenant, name)
        return _details(queue, self.contents.of(tenant, queue.name))

    def change(self, tenant: str, name: str, request: ChangeQueue) -> QueueView:
        """Change it for tasks that are submitted from now on.

        Raise `UnknownWorkQueue`, or `Conflict` if it has another version than was looked at.
        """
        queue = self._own(tenant, name)
        if request.version is not None and request.version != queue.version:
            raise Conflict(
                f"version: the queue {name!r} has version {queue.version} by now, "
                f"not {request.version}; read it again"
            )
        return QueueView.of(self.store.change(_changed(queue, request)))

    def delete(self, tenant: str, name: str) -> QueueDeleted:
        """Raise `UnknownWorkQueue`, or `QueueInUse` with what uses it.

        A task that is submitted in the same moment runs all the same: it has what it needs.
        """
        queue = self._own(tenant, name)
        users = list(islice(self._users(tenant, name), MOST_NAMED))
        if users:
            raise QueueInUse(name, users)
        self.store.delete(queue, now_ms=self.clock.now_ms())
        return QueueDeleted(name=name)

    def require(self, tenant: str, name: str) -> WorkQueue:
        """Return the queue of this name, `default` too. Raise `UnknownWorkQueue`."""
        return self._found(tenant, name)

    def _require_room(self, tenant: str) -> None:
        number, after = 0, None
        while number < MOST_QUEUES:
            page = self.store.page(tenant, limit=QUEUES_PER_PAGE, after=after)
            number, after = number + len(page.queues), page.after
            if after is None:
                return
        raise Conflict(f"a tenant has at most {MOST_QUEUES:,} queues; delete one that is not used")

    def _found(self, tenant: str, name: str) -> WorkQueue:
        if name == DEFAULT_QUEUE:
            return _default(tenant)
        known = QUEUE_NAME.fullmatch(name)
        found = self.store.find_many(tenant, [name]).get(name) if known else None
        if found is None:
            raise UnknownWorkQueue(name[:200], self._hint(tenant, name))
        return found

    def _own(self, tenant: str, name: str) -> WorkQueue:
        """Return a queue that the tenant created."""
        if name == DEFAULT_QUEUE:
            raise Conflict(f"the queue {DEFAULT_QUEUE!r} is the stage's; create one of your own")
        return self._found(tenant, name)

    def _hint(self, tenant: str, name: str) -> str:
        names = [queue.name for queue in self.store.page(tenant, limit=QUEUES_PER_PAGE).queues]
        return did_you_mean(name, [DEFAULT_QUEUE, *names])

    def _users(self, tenant: str, name: str) -> Iterator[str]:
        held = self.contents.of(tenant, name)
        number = sum(held.pending.values()) + sum(held.in_flight.values())
        if number:
            yield f"{'at least ' if held.partial else ''}{number:,} unsettled tasks"
        until = self.clock.monotonic() + SECONDS
        for definition in self.definitions.all(tenant):
            if self.clock.monotonic() > until:
                raise Conflict("there are too many definitions to look through them all in time")
            if _names(definition, name):
                yield f"the definition {definition.name}"


def _names(definition: RegisteredDefinition, queue: str) -> bool:
    tasks = definition.tasks or ()
    pins = (definition.pinned or {}).values()
    of_template = {task.queue for task in tasks} | {p.terms.queue for p in pins if p.terms}
    return queue == definition.queue or queue in of_template


def _default(tenant: str) -> WorkQueue:
    return WorkQueue(tenant=tenant, name=DEFAULT_QUEUE)


def _settings(request: CreateQueue | ChangeQueue, priority: PriorityClass) -> dict[str, Any]:
    return {
        "lease_ms": request.lease,
        "max_attempts": request.max_attempts,
        "priority": request.priority or priority,
        "concurrency": request.concurrency.value() if request.concurrency else None,
        "starts_per_minute": request.starts_per_minute,
    }


def _changed(queue: WorkQueue, request: ChangeQueue) -> WorkQueue:
    """What a request does not name stays; what it names as null goes back to the default."""
    names = {"lease": "lease_ms"}
    given = {names.get(name, name) for name in request.model_fields_set} - {"version"}
    if not given:
        raise Invalid([Problem((), "there is nothing to change")])
    said = _settings(request, PriorityClass.NORMAL)
    return replace(queue, **{name: said[name] for name in given})


def _details(queue: WorkQueue, held: Contents) -> QueueDetails:
    used = [one for one in PriorityClass if held.pending.get(one) or held.in_flight.get(one)]
    return QueueDetails(
        **QueueView.fields_of(queue),
        depth=sum(held.pending.values()),
        in_flight=sum(held.in_flight.values()),
        consumers=held.consumers,
        oldest_item_at=instant(held.oldest_ready_at_ms),
        classes={
            one: ClassCounts(pending=held.pending.get(one, 0), in_flight=held.in_flight.get(one, 0))
            for one in used
        },
        at_least=held.partial,
    )
