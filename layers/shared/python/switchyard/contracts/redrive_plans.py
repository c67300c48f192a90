"""The plan of a redrive, as it is stored in the bucket until everything in it has been done."""

import hashlib
from typing import Any, Final, Self

from pydantic import Field

from switchyard.contracts.wire import SchemaOne, Written, unless_absent
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.redrive import NewEdges, RedrivePlan, Reopening
from switchyard.domain.prompts.artifacts import redrive_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Overrides

SCHEMA_VERSION: Final = 1

Names = frozenset[str]


class StoredOverrides(Written):
    model: str | None = None
    max_turns: int | None = None
    timeout_ms: int | None = None
    max_cost_usd: float | None = None
    max_tokens: int | None = unless_absent()


class StoredPin(Written):
    version: int
    max_attempts: int


class StoredReopening(Written):
    task_id: str
    state: TaskState
    run: int
    fence: int
    waiting_on: Names = frozenset()
    not_completed: Names = frozenset()
    overrides: StoredOverrides = StoredOverrides()
    items_run: int | None = None
    pinned: StoredPin | None = None
    limits: tuple[str, ...] | None = None

    def reopening(self) -> Reopening:
        said = dict(self) | {"overrides": Overrides(**dict(self.overrides))}
        return Reopening(**said | {"pinned": Pinned(**dict(self.pinned)) if self.pinned else None})


class StoredEdges(Written):
    before: tuple[str, ...]
    added: tuple[str, ...]


class StoredPlan(Written):
    schema_version: SchemaOne = Field(default=SCHEMA_VERSION, alias="schema")
    run: int
    asked_at_ms: int
    waiting: tuple[StoredReopening, ...]
    ready: tuple[StoredReopening, ...]
    relays: dict[str, Names]
    edges: dict[str, StoredEdges]
    inputs: dict[str, Any]
    requested_by: str | None = None
    fewer_tasks: int = Field(default=0, exclude_if=lambda number: bool(number == 0))
    """The number of items that go; absent if there are none, as earlier releases do not know it."""

    @classmethod
    def of(cls, plan: RedrivePlan) -> Self:
        return cls.model_validate(plan, from_attributes=True)

    def plan(self) -> RedrivePlan:
        return RedrivePlan(
            run=self.run,
            asked_at_ms=self.asked_at_ms,
            waiting=tuple(one.reopening() for one in self.waiting),
            ready=tuple(one.reopening() for one in self.ready),
            relays=self.relays,
            edges={name: NewEdges(**dict(stored)) for name, stored in self.edges.items()},
            inputs=self.inputs,
            requested_by=self.requested_by,
            fewer_tasks=self.fewer_tasks,
        )


def stored_plan(plan: RedrivePlan) -> bytes:
    return StoredPlan.of(plan).model_dump_json(by_alias=True, exclude_none=True).encode()


def read_plan(document: bytes) -> RedrivePlan:
    return StoredPlan.model_validate_json(document).plan()


def plan_key(job: JobRef, plan: RedrivePlan, document: bytes) -> str:
    digest = hashlib.sha256(document).hexdigest()
    return redrive_key(job.tenant, job.job_id, run=plan.run, digest=digest)
