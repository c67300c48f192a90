"""The plan of a redrive, as it is kept in the bucket until everything in it has been done."""

import hashlib
from typing import Any, Final, Self

from pydantic import Field

from switchyard.contracts.wire import SchemaOne, Written
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.redriving import NewEdges, RedrivePlan, Reopening
from switchyard.domain.prompts.artifacts import redrive_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Overrides

SCHEMA_VERSION: Final = 1

Names = frozenset[str]


class KeptOverrides(Written):
    model: str | None = None
    max_turns: int | None = None
    timeout_ms: int | None = None
    max_cost_usd: float | None = None


class KeptReopening(Written):
    task_id: str
    state: TaskState
    run: int
    fence: int
    waiting_on: Names = frozenset()
    not_completed: Names = frozenset()
    overrides: KeptOverrides = KeptOverrides()

    def reopening(self) -> Reopening:
        said = dict(self) | {"overrides": Overrides(**dict(self.overrides))}
        return Reopening(**said)


class KeptEdges(Written):
    before: tuple[str, ...]
    added: tuple[str, ...]


class KeptPlan(Written):
    schema_version: SchemaOne = Field(default=SCHEMA_VERSION, alias="schema")
    run: int
    asked_at_ms: int
    waiting: tuple[KeptReopening, ...]
    ready: tuple[KeptReopening, ...]
    relays: dict[str, Names]
    edges: dict[str, KeptEdges]
    inputs: dict[str, Any]
    requested_by: str | None = None

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
            edges={name: NewEdges(**dict(kept)) for name, kept in self.edges.items()},
            inputs=self.inputs,
            requested_by=self.requested_by,
        )


def kept_plan(plan: RedrivePlan) -> bytes:
    return KeptPlan.of(plan).model_dump_json(by_alias=True, exclude_none=True).encode()


def read_plan(document: bytes) -> RedrivePlan:
    return KeptPlan.model_validate_json(document).plan()


def plan_key(job: JobRef, plan: RedrivePlan, document: bytes) -> str:
    digest = hashlib.sha256(document).hexdigest()
    return redrive_key(job.tenant, job.job_id, run=plan.run, digest=digest)
