"""Things that tests need often, with sensible values for what a test does not care about."""

from typing import Any

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.events import Context
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import JobPlan, Pinned, plan_job
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.ports import EventBus
from switchyard.usecases.events.emitting import Emitter

NOW_MS = 1_800_000_000_000
TENANT = "acme"
JOB_ID = "job-00000000-0000-4000-8000-000000000001"
JOB = JobRef(TENANT, JOB_ID)
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

DIAMOND = {
    "scrape-store": [],
    "analyze-competitors": [],
    "color-tags": ["scrape-store"],
    "font-pairing": ["scrape-store"],
    "compile-result": ["color-tags", "font-pairing"],
}


def a_task(task_id: str = "scrape-store", **facts: Any) -> Task:
    known: dict[str, Any] = {
        "ref": TaskRef(TENANT, JOB_ID, task_id),
        "state": TaskState.QUEUED,
        "definition": "scrape",
        "definition_version": 1,
    }
    return Task(**known | facts)


def specs(edges: dict[str, list[str]], **inputs: Any) -> list[TaskSpec]:
    return [
        TaskSpec(
            task_id=task_id, name="scrape", depends_on=tuple(parents), input=inputs.get(task_id)
        )
        for task_id, parents in edges.items()
    ]


def a_plan(edges: dict[str, list[str]] | None = None, *, job: JobRef = JOB) -> JobPlan:
    return plan_job(
        job,
        name="brand",
        tags={"team": "web"},
        specs=specs(edges or DIAMOND),
        pinned={"scrape": Pinned(1)},
        now_ms=NOW_MS,
    )


def a_definition(**facts: Any) -> TaskDefinition:
    known: dict[str, Any] = {"description": "Scrape the store.", "tag": "researcher"}
    return TaskDefinition(**known | facts)


def a_submission(edges: dict[str, list[str]] | None = None, **facts: Any) -> SubmitJob:
    tasks = [
        {"taskId": task_id, "name": "scrape", "dependsOn": parents, "input": {"for": task_id}}
        for task_id, parents in (edges or DIAMOND).items()
    ]
    return SubmitJob.model_validate({"name": "brand", "tasks": tasks} | facts)


def an_emitter(bus: EventBus, *, origin: str = "test") -> Emitter:
    return Emitter(bus, app="task-workflow", context=Context(environment="test", origin=origin))
