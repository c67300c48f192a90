"""Describes each route: its purpose, what it takes beside path and body, and its refusals.

Shapes are not here: they are read from the routes themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.events.views import EventsAsked, JobEventsAsked
from switchyard.contracts.jobs import KEY_HEADER
from switchyard.contracts.wire import Wire
from switchyard.domain.measuring.spans import TRACEPARENT

API_VERSION: Final = "1"
VERSION_HEADER: Final = "Switchyard-Api-Version"
"""A header of every answer of the function; docs/api.md says what may change within a version."""
JOBS: Final = "Jobs"
EVENTS: Final = "Events"
DEFINITIONS: Final = "Task definitions"
TRIGGERS: Final = "Triggers"
QUEUES: Final = "Work queues"
ITSELF: Final = "The API itself"


@dataclass(frozen=True, kw_only=True)
class Operation:
    group: str
    summary: str
    refusals: frozenset[int] = frozenset()
    """The statuses of refusals beside those that every route has."""
    query: type[Wire] | None = None
    headers: Mapping[str, str] | None = None
    answer: Mapping[str, Mapping[str, str]] | None = None
    """Schemas by content type, where the route's return value does not say."""


def _reads(group: str, summary: str, *refusals: int, query: type[Wire] | None = None) -> Operation:
    return Operation(group=group, summary=summary, refusals=frozenset(refusals), query=query)


def _takes_a_body(
    group: str, summary: str, *refusals: int, headers: Mapping[str, str] | None = None
) -> Operation:
    return Operation(
        group=group,
        summary=summary,
        refusals=frozenset({400, 413, 415, *refusals}),
        headers=headers,
    )


PARAMETERS: Final[Mapping[str, str]] = {
    "app": "Only events of this app",
    "cursor": "Of the page before: where to go on",
    "entity": "Only events of this job or task, by its id",
    "limit": "How many at most",
    "order": "Which come first",
    "since": "Not before this time, like 2027-01-31T12:00:00Z, or this long ago, like 15m or 1d",
    "status": "Only jobs that are in it",
    "tag": "Only jobs that have it, as key:value",
    "type": "Only events of this type, like task-completed",
    "until": "Before this time, or this long ago",
}

_WITH_A_JOB: Final[Mapping[str, str]] = {
    KEY_HEADER: "The same key and body within 24 hours are the same job. 1 to 255 characters.",
    TRACEPARENT: "The span that the job is submitted in, as W3C's trace context has it",
}

OPERATIONS: Final[Mapping[str, Operation]] = {
    "post_job": _takes_a_body(JOBS, "Submit a job", 422, headers=_WITH_A_JOB),
    "post_file": _takes_a_body(JOBS, "Ask for a link to upload a file of a job"),
    "get_jobs": _reads(JOBS, "List jobs, newest first", 400),
    "get_job": _reads(JOBS, "Read a job and how its tasks stand", 404),
    "post_tasks": _takes_a_body(JOBS, "Add tasks to a job under way", 404, 409),
    "get_task": _reads(JOBS, "Read a task: attempts, usage, error, data and files", 404),
    "post_cancel": _reads(JOBS, "Cancel a job", 404, 409),
    "post_task_cancel": _reads(JOBS, "Cancel a task", 404, 409),
    "get_approvals": _reads(JOBS, "List approvals that wait for a person, newest jobs first", 400),
    "get_decision": _reads(JOBS, "Read what a held task waits for", 404, 409),
    "post_decision": _takes_a_body(JOBS, "Approve or reject a held task", 404, 409),
    "post_signal": _takes_a_body(JOBS, "Give a held task its signal", 404, 409),
    "post_redrive": _takes_a_body(JOBS, "Run a settled job's failed tasks again", 404, 409),
    "get_job_events": _reads(EVENTS, "Read a job's events", 400, 404, query=JobEventsAsked),
    "get_events": _reads(EVENTS, "Find events", 400, query=EventsAsked),
    "put_task_definition": _takes_a_body(
        DEFINITIONS, "Register a version of a definition", 404, 409
    ),
    "get_task_definitions": _reads(DEFINITIONS, "List the latest versions", 400),
    "get_task_definition": _reads(DEFINITIONS, "Read the latest version", 404),
    "delete_task_definition": _reads(DEFINITIONS, "Delete a definition that is not used", 404, 409),
    "get_task_definition_version": _reads(DEFINITIONS, "Read one version", 400, 404),
    "get_triggers": _reads(TRIGGERS, "List triggers"),
    "get_trigger": _reads(TRIGGERS, "Read a trigger with its last and next run", 404),
    "put_trigger": _takes_a_body(TRIGGERS, "Add a trigger, or change it", 404, 409),
    "delete_trigger": _reads(TRIGGERS, "Delete a trigger; its jobs go on", 404, 409),
    "post_trigger_enable": _reads(TRIGGERS, "Let a trigger start jobs again", 404, 409),
    "post_trigger_disable": _reads(TRIGGERS, "Let a trigger start nothing", 404, 409),
    "post_trigger_fire": _takes_a_body(TRIGGERS, "Try a trigger with an event", 404, 409),
    "get_queues": _reads(QUEUES, "List work queues", 400),
    "post_queue": _takes_a_body(QUEUES, "Create a work queue", 409),
    "get_group_queue": _reads(QUEUES, "Read a work queue and what is in it", 404),
    "get_queue": _reads(QUEUES, "Read a work queue with a name in its group", 404),
    "patch_group_queue": _takes_a_body(QUEUES, "Change a work queue", 404, 409),
    "patch_queue": _takes_a_body(QUEUES, "Change a queue with a name in its group", 404, 409),
    "delete_group_queue": _reads(QUEUES, "Delete a work queue that nothing uses", 404, 409),
    "delete_queue": _reads(QUEUES, "Delete a queue with a name in its group", 404, 409),
    "post_group_item": _takes_a_body(
        QUEUES, "Put an item into a work queue", 404, 422, headers=_WITH_A_JOB
    ),
    "post_queue_item": _takes_a_body(
        QUEUES, "Put an item into a queue with a name in its group", 404, 422, headers=_WITH_A_JOB
    ),
    "get_group_dead_letters": _reads(QUEUES, "List what failed in a work queue", 400, 404),
    "get_queue_dead_letters": _reads(
        QUEUES, "List what failed in a queue with a name in its group", 400, 404
    ),
    "get_pools": _reads(ITSELF, "List the pools of workers and the groups that they serve"),
    "get_health": _reads(ITSELF, "Ask whether the API can do its work"),
    "get_openapi": Operation(
        group=ITSELF,
        summary="Read this description",
        answer={"application/json": {"type": "object"}},
    ),
    "get_docs": Operation(
        group=ITSELF,
        summary="Read this description as a page",
        answer={"text/html": {"type": "string"}},
    ),
}
