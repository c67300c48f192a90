"""Jobs, tasks and definitions as tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from switchyard_cli.actions.task_files import folder_of
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.statuses import coloured, symbol
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.values import print_value
from switchyard_cli.views.wording import cost, elapsed, own_error, task_elapsed, task_status

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.changes import ApprovalPage
    from switchyard.contracts.definitions import RegisteredDefinition
    from switchyard.contracts.jobs import TaskView
    from switchyard_cli.connections.endpoints import Endpoint
    from switchyard_cli.connections.job_list import JobList

FAN_OUT: Final = "fan_out"


def print_jobs(page: JobList, console: Console, *, now_ms: int) -> None:
    if not page.jobs:
        console.print("No jobs.")
        return
    table = table_of("job", "status", "tasks", "created", giving_way="name and tags")
    for job in page.jobs:
        age = f"{elapsed(job.created_at, None, now_ms=now_ms)} ago"
        tags = [f"{key}:{value}" for key, value in job.tags.items()]
        called = cut_to_fit(" ".join([job.name, *tags]))
        facts = (_status(job.status), str(job.total_tasks), age, called)
        table.add_row(clean(job.job_id), *facts)
    console.print(table)


def print_approvals(page: ApprovalPage, console: Console, *, now_ms: int) -> None:
    if not page.approvals:
        said = "None among the jobs looked at." if page.cursor else "Nothing waits for a person."
        console.print(said)
        return
    table = table_of("job", "task", "held for", "until", giving_way="question")
    for one in page.approvals:
        age = elapsed(one.held_since, None, now_ms=now_ms) if one.held_since else ""
        until = f"{one.held_until:%Y-%m-%d %H:%M}" if one.held_until else ""
        asked = cut_to_fit(one.question or one.name)
        table.add_row(clean(one.job_id), clean(one.task_id), age, until, asked)
    console.print(table)


def print_definitions(definitions: Sequence[RegisteredDefinition], console: Console) -> None:
    if not definitions:
        console.print("No task definitions.")
        return
    table = table_of("name", "version", "role", giving_way="description")
    for found in definitions:
        facts = (str(found.version), clean(_role(found)), cut_to_fit(_what_it_does(found)))
        table.add_row(clean(found.name), *facts)
    console.print(table)


def _role(found: RegisteredDefinition) -> str:
    return found.tag or found.kind


def _what_it_does(found: RegisteredDefinition) -> str:
    return found.description or found.function or " ".join(found.command or ())


def print_task(task: TaskView, endpoint: Endpoint, console: Console, *, now_ms: int) -> None:
    status = _status(task.status, task_status(task))
    console.print(Text("  ").join([heading(task.task_id), status]))
    for name, value in _facts(task, endpoint, now_ms).items():
        if value:
            line = Text.assemble((name.ljust(12), "dim"), clean(value))
            console.print(line, soft_wrap=True)
    _print_commitments(task, console)
    for name, payload in (("Input", task.input), ("Output", task.output)):
        if payload is not None:
            console.print()
            console.print(heading(name))
            print_value(payload, console)


def _print_commitments(task: TaskView, console: Console) -> None:
    """Print what was found of each commitment, and in which attempt."""
    if not task.commitments:
        return
    met = sum(one.met for one in task.commitments)
    said = f"Commitments: {met} of {len(task.commitments)} met"
    console.print()
    console.print(heading(f"{said}, attempt {task.commitments_checked_in}"))
    for one in task.commitments:
        mark = symbol("completed" if one.met else "failed")
        took = f" ({one.duration_ms:,} ms)" if one.duration_ms else ""
        line = Text.assemble(mark, " ", clean(f"{one.name}: {one.reason}"), (took, "dim"))
        console.print(line, soft_wrap=True)


def _status(status: str, words: str | None = None) -> Text:
    return Text.assemble(symbol(status), " ", coloured(status, words))


def _facts(task: TaskView, endpoint: Endpoint, now_ms: int) -> dict[str, str]:
    tokens = (task.input_tokens, task.output_tokens, task.cache_read_tokens)
    read, written, cached = tokens
    return {
        "request": task.request_id,
        "definition": f"{task.name} version {task.definition_version}" if task.name else "",
        "kind": task.kind or "",
        "held until": f"{task.held_until:%Y-%m-%d %H:%M} UTC" if task.held_until else "",
        "waits for": f"an event {json.dumps(task.event, ensure_ascii=False)}" if task.event else "",
        "after": ", ".join(task.depends_on),
        **_as_item(task),
        **_attempts(task),
        "time": _time(task, now_ms),
        "tokens": f"{read} in, {written} out, {cached} from cache" if any(tokens) else "",
        "cost": cost(task.cost_usd),
        "error": own_error(task),
        "category": _category(task),
        "input": task.input_location or "",
        "output": task.output_location or "",
        "given": ", ".join(task.input_files),
        "to leave": ", ".join(task.required_artifacts),
        "files": task.artifacts or "",
        "on disk": str(folder_of(task, endpoint) or ""),
    }


def _attempts(task: TaskView) -> dict[str, str]:
    """Return the attempt and the run; no worker attempts a task that has a kind."""
    if task.kind:
        return {"run": str(task.run) if task.run > 1 else ""}
    if not task.attempt:
        return {"attempt": f"none of {task.max_attempts} yet, run {task.run}"}
    counts = f"{task.attempt} of {task.max_attempts}, run {task.run}"
    return {"attempt": f"{counts}{_retried_after(task)}"}


def _time(task: TaskView, now_ms: int) -> str:
    """Return how long it ran, as `job` shows it, and how long it waited for a worker before."""
    if task.kind:
        known = task.kind != FAN_OUT and task.ready_at  # its items have times of their own
        return f"held for {elapsed(known, task.settled_at, now_ms=now_ms)}" if known else ""
    ran = task_elapsed(task, now_ms=now_ms)
    if task.ready_at is None or task.attempt > 1:
        return f"ran {ran}" if ran else ""
    waited = elapsed(task.ready_at, task.started_at or task.settled_at, now_ms=now_ms)
    return f"ran {ran}, waited {waited}" if ran else f"waited {waited}"


def _category(task: TaskView) -> str:
    """Return the category of the error that ended the task, and why no attempt followed."""
    if task.error_category is None or not own_error(task):
        return ""
    from switchyard.domain.tasks.retries import why_not_retried  # noqa: PLC0415 - not to list jobs

    why = why_not_retried(task.error_category, attempt=task.attempt, max_attempts=task.max_attempts)
    return f"{task.error_category}; not retried because {why}" if why else task.error_category


def _retried_after(task: TaskView) -> str:
    """Name the error of the attempt before the one that completed the task."""
    earlier = task.error if not own_error(task) else None
    return f", after: {earlier}" if earlier else ""


def _as_item(task: TaskView) -> dict[str, str]:
    """Return what a work queue says of the task."""
    texts = ", ".join(f"{name}={value}" for name, value in task.metadata.items())
    shown = task.queue or task.priority or texts
    return {
        "queue": f"{task.queue or 'default'}, class {task.priority or 'normal'}" if shown else "",
        "item": (task.item_status or "") if shown else "",
        "claimed by": task.claimed_by or "",
        "metadata": texts,
    }
