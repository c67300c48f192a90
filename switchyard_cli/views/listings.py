"""Jobs, tasks and definitions as tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from switchyard_cli.actions.task_files import folder_of
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.statuses import coloured, symbol
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.values import print_value
from switchyard_cli.views.wording import cost, duration, elapsed, own_error, task_status

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.definitions import RegisteredDefinition
    from switchyard.contracts.jobs import TaskView
    from switchyard.contracts.overview import JobPage
    from switchyard_cli.connections.endpoints import Endpoint


def print_jobs(page: JobPage, console: Console, *, now_ms: int) -> None:
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


def print_task(task: TaskView, endpoint: Endpoint, console: Console) -> None:
    status = _status(task.status, task_status(task))
    console.print(Text("  ").join([heading(task.task_id), status]))
    for name, value in _facts(task, endpoint).items():
        if value:
            line = Text.assemble((name.ljust(12), "dim"), clean(value))
            console.print(line, soft_wrap=True)
    for name, payload in (("Input", task.input), ("Output", task.output)):
        if payload is not None:
            console.print()
            console.print(heading(name))
            print_value(payload, console)


def _status(status: str, words: str | None = None) -> Text:
    return Text.assemble(symbol(status), " ", coloured(status, words))


def _facts(task: TaskView, endpoint: Endpoint) -> dict[str, str]:
    tokens = (task.input_tokens, task.output_tokens, task.cache_read_tokens)
    read, written, cached = tokens
    return {
        "request": task.request_id,
        "definition": f"{task.name} version {task.definition_version}" if task.name else "",
        "kind": task.kind or "",
        "held until": f"{task.held_until:%Y-%m-%d %H:%M} UTC" if task.held_until else "",
        "waits for": f"an event {json.dumps(task.event, ensure_ascii=False)}" if task.event else "",
        "after": ", ".join(task.depends_on),
        "attempt": f"{task.attempt} of {task.max_attempts}, run {task.run}{_retried_after(task)}",
        "time": duration(task.duration_ms / 1000) if task.duration_ms is not None else "",
        "tokens": f"{read} in, {written} out, {cached} from cache" if any(tokens) else "",
        "cost": cost(task.cost_usd),
        "error": own_error(task),
        "input": task.input_location or "",
        "output": task.output_location or "",
        "given": ", ".join(task.input_files),
        "to leave": ", ".join(task.required_artifacts),
        "files": task.artifacts or "",
        "on disk": str(folder_of(task, endpoint) or ""),
    }


def _retried_after(task: TaskView) -> str:
    """Name the error of the attempt before the one that completed the task."""
    earlier = task.error if not own_error(task) else None
    return f", after: {earlier}" if earlier else ""
