"""State table items, and the domain objects they stand for."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from switchyard.adapters.dynamodb.table import Key, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import (
    DUE_AT,
    DUE_SHARD,
    JOBS_ORDER,
    JOBS_TENANT,
    job_partition,
)
from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.ids import FAN_PREFIX, JobRef, TaskRef, due_shard
from switchyard.domain.jobs.job import Job, StateOfTask
from switchyard.domain.jobs.notify import DEFAULT_ENDS, NotifyTarget
from switchyard.domain.states import JobState, Rule, TaskKind, TaskState
from switchyard.domain.tasks.task import LifeSigns, Outcome, Overrides, Task, Usage
from switchyard.domain.transition import is_empty

JOB_SORT_KEY: Final = "JOB"
TASK_PREFIX: Final = "TASK#"
DEPENDENTS_PREFIX: Final = "DEPENDENTS#"
DATA_PREFIX: Final = "DATA#"
_AFTER_ALL_TASKS: Final = "TASK#~"  # `~` sorts after everything an id may contain

PICTURE_RANGE: Final = (DEPENDENTS_PREFIX, _AFTER_ALL_TASKS)  # everything but DATA#
STATES_RANGE: Final = (JOB_SORT_KEY, _AFTER_ALL_TASKS)

_TASK_FIELDS: Final = tuple(field.name for field in fields(Task) if field.name != "ref")
# Each is stored by a function of its own.
_MAPS: Final = frozenset({"commitments", "limits", "notify", "outcome", "overrides", "signs"})
_JOB_FIELDS: Final = tuple(field.name for field in fields(Job) if field.name != "ref")


def partition(ref: JobRef | TaskRef) -> str:
    return job_partition(ref.tenant, ref.job_id)


def job_key(ref: JobRef) -> Key:
    return partition(ref), JOB_SORT_KEY


def task_key(ref: TaskRef) -> Key:
    return partition(ref), f"{TASK_PREFIX}{ref.task_id}"


def dependents_key(ref: TaskRef) -> Key:
    return partition(ref), f"{DEPENDENTS_PREFIX}{ref.task_id}"


def data_key(ref: TaskRef) -> Key:
    return partition(ref), f"{DATA_PREFIX}{ref.task_id}"


def listing_attributes(job: Job) -> Item:
    """A job is listed from the moment it is open."""
    return {JOBS_TENANT: job.ref.tenant, JOBS_ORDER: job.listing_order}


def due_attributes(name: str, due_at_ms: int) -> Item:
    """Return the attributes of the due index, which `name`, a request or job id, spreads."""
    return {DUE_SHARD: due_shard(name), DUE_AT: due_at_ms}


def job_item(job: Job) -> Item:
    due = due_attributes(job.ref.job_id, job.due_at_ms) if job.due_at_ms is not None else {}
    return {
        **key_item(job_key(job.ref)),
        **_stored(job, _JOB_FIELDS),
        **_notify_attribute(job.notify),
        **due,
        **job_name(job.ref),
    }


def job_name(ref: JobRef) -> Item:
    return {"job_id": ref.job_id}


def job_from(item: Mapping[str, Any], tenant: str) -> Job:
    known = {name: item[name] for name in _JOB_FIELDS if name in item}
    known["state"] = JobState(item["state"])
    known["notify"] = _notify(item)
    return Job(ref=JobRef(tenant, item["job_id"]), **known)


def task_item(task: Task) -> Item:
    due = due_attributes(task.ref.request_id, task.due_at_ms) if task.due_at_ms is not None else {}
    return {
        **key_item(task_key(task.ref)),
        **_stored(task, _TASK_FIELDS),
        **_overrides_attribute(task.overrides),
        **({"limits": [*task.limits]} if task.limits else {}),
        **due,
        "rule": f"{_NEWER if _is_new(task) else ''}{task.rule}",
        "max_attempts": task.max_attempts,
        "attempt": task.attempt,
        "fence": task.fence,
    }


def task_from(item: Mapping[str, Any], job: JobRef) -> Task:
    known = {name: item[name] for name in _TASK_FIELDS if name in item}
    known["state"], known["rule"] = _state_and_rule(item)
    known["kind"] = _kind(item)
    known["definition"] = item.get("definition", "")
    known["definition_version"] = item.get("definition_version", 0)
    known["waiting_on"] = frozenset(item.get("waiting_on", ()))
    known["not_completed"] = frozenset(item.get("not_completed", ()))
    known["limits"] = tuple(item.get("limits", ()))
    known["commitments"] = CheckedCommitments.read(item.get("commitments", ""))
    known["limits"] = tuple(item.get("limits", ()))
    known["outcome"] = outcome_from(item["outcome"]) if "outcome" in item else None
    known["overrides"] = Overrides(**known_in(item.get("overrides", {}), Overrides))
    known["signs"] = LifeSigns(**known_in(item["signs"], LifeSigns)) if "signs" in item else None
    return Task(ref=job.task(item["SK"].removeprefix(TASK_PREFIX)), **known)


_STATE_FIELDS: Final = ("run", "state", "attempt", "rule", "kind", "child_count", "items_run")
STATES_ATTRIBUTES: Final = ("SK", "job_id", *dict.fromkeys((*_JOB_FIELDS, *_STATE_FIELDS)))
"""The attributes that `job_from` and `state_of_task` read."""


def state_of_task(item: Mapping[str, Any], job: JobRef) -> StateOfTask:
    """Read what `task_from` would, with the same defaults."""
    ref = job.task(item["SK"].removeprefix(TASK_PREFIX))
    state, _ = _state_and_rule(item)
    return StateOfTask(
        ref,
        item.get("run", 1),
        state,
        item.get("attempt", 0),
        item.get("child_count"),
        item.get("items_run"),
        _kind(item),
    )


def field_attribute(value: Any) -> Any:
    """Return a field's value as it is stored: what has fields itself becomes a map.

    Another rule is given only to a task that another one made, which older versions leave alone.
    """
    if isinstance(value, Rule):
        return f"{_NEWER}{value}"
    if isinstance(value, CheckedCommitments):
        return value.stored()
    if isinstance(value, tuple):
        return [*value]
    is_map = isinstance(value, Outcome | Overrides | LifeSigns)
    return _without_empty(asdict(value)) if is_map else value


def outcome_from(attribute: Mapping[str, Any]) -> Outcome:
    usage = Usage(**known_in(attribute.get("usage", {}), Usage))
    known = known_in(attribute, Outcome)
    return Outcome(**{**known, "state": TaskState(attribute["state"]), "usage": usage})


def known_in(attribute: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Return the entries that `kind` has a field for: a newer version may write more."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in attribute.items() if name in names}


_NEWER: Final = "newer/"
"""The prefix of the rule of a task with a condition, with limits or without a worker, and of a
fan-out's items: a version that knows none of them leaves a task with such a rule alone."""


def _is_new(task: Task) -> bool:
    """Whether versions before 0.2 have to leave the task alone."""
    of_fan_out = task.ref.fan_out is not None or task.ref.task_id.startswith(FAN_PREFIX)
    return task.kind is not None or task.conditional or of_fan_out or bool(task.limits)


def _state_and_rule(item: Mapping[str, Any]) -> tuple[TaskState, Rule]:
    """Refuse an unknown rule: whether its task may run cannot be decided here."""
    state = TaskState(item["state"])
    try:
        if "kind" in item:
            TaskKind(item["kind"])
        return state, Rule(item["rule"].removeprefix(_NEWER))
    except ValueError:
        unknown = state is TaskState.WAITING
        return (TaskState.UNKNOWN if unknown else state), Rule.ALL_COMPLETED


def _kind(item: Mapping[str, Any]) -> TaskKind | None:
    try:
        return TaskKind(item["kind"]) if "kind" in item else None
    except ValueError:
        return None  # of a newer version; `_state_and_rule` says so


def _overrides_attribute(overrides: Overrides) -> Item:
    """Return the attribute, which is absent when empty."""
    return _without_empty({"overrides": _without_empty(asdict(overrides))})


def _notify_attribute(notify: NotifyTarget | None) -> Item:
    """The default of `on` is not stored: earlier releases know no other."""
    if notify is None:
        return {}
    stored = _without_empty(asdict(notify))
    if notify.on == DEFAULT_ENDS:
        del stored["on"]
    return {"notify": stored}


def _notify(item: Mapping[str, Any]) -> NotifyTarget | None:
    if "notify" not in item:
        return None
    known = known_in(item["notify"], NotifyTarget)
    return NotifyTarget(**known | {"on": tuple(known.get("on", DEFAULT_ENDS))})


def json_text(value: Any) -> str:
    """JSON travels as text: it comes back byte for byte, whatever its numbers."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _stored(thing: Task | Job, names: tuple[str, ...]) -> Item:
    return _without_empty({name: getattr(thing, name) for name in names if name not in _MAPS})


def _without_empty(item: Mapping[str, Any]) -> Item:
    """Sets and texts that are empty are not stored: DynamoDB has no empty sets."""
    return {name: value for name, value in item.items() if not is_empty(value)}
