"""Find in a job file what is certain to fail once its tasks run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from switchyard.domain.errors import Problem
from switchyard.domain.fan_out.items import NotExpandable
from switchyard.domain.fan_out.requests import list_in_input
from switchyard.domain.nested_jobs.job_templates import (
    kind_problems,
    level_problems,
    template_problems,
)
from switchyard.domain.prompts.placeholders import Values, paths_in
from switchyard.domain.prompts.references import NotAReference
from switchyard.domain.prompts.schema_checks import Doubt, doubtful_references
from switchyard.domain.text import did_you_mean

if TYPE_CHECKING:
    from switchyard.contracts.definitions import TaskDefinition
    from switchyard.contracts.task_requests import TaskRequest
    from switchyard_cli.files.readable import Readable
    from switchyard_cli.files.yaml_source import Place

MOST_ITEMS: Final = 100
"""The most items of a list that are compared with a schema before they are sent."""
MOST_NAMED: Final = 20
WITHOUT_TOOLS: Final = "messages"
OFFLINE: Final = "offline"
MODEL: Final = re.compile(r"claude|^(sonnet|opus|haiku|default|inherit)$")
OF_A_SERVER: Final = "mcp__"
TOOLS: Final = (
    *("Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterWorktree", "ExitWorktree"),
    *("Glob", "Grep", "ListAgents", "Monitor", "NotebookEdit", "Read", "ReportFindings"),
    *("ScheduleWakeup", "SendMessage", "Skill", "Task", "TaskCreate", "TaskGet", "TaskList"),
    *("TaskStop", "TaskUpdate", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write"),
)
"""The tools that Claude Code 2.1.325, part of the agent SDK, offers an agent that asks for them.

`tests/worker/agents/test_offered_tools.py` asks the program itself.
"""
OTHER_NAMES: Final = ("Agent", "KillBash", "KillShell")
"""Older or newer names of `Task` and `TaskStop`, which Claude Code accepts as well."""
OF_SERVERS: Final = ("ListMcpResources", "ReadMcpResource")
"""Tools that exist where an MCP server is configured."""
OF_OTHER_RELEASES: Final = ("TodoWrite",)
"""Tools that this release of Claude Code lacks and that a stage permits nevertheless."""
KNOWN_TOOLS: Final = (*TOOLS, *OTHER_NAMES, *OF_SERVERS, *OF_OTHER_RELEASES)


def static_problems(
    file: Readable, registered: Mapping[str, TaskDefinition] | None = None
) -> list[Problem]:
    """Check the definitions of a file, and its tasks against these and the registered ones."""
    definitions = {**(registered or {}), **file.definitions}
    found = definition_problems(file.definitions)
    found += _mixed_up(file, definitions)
    task_ids = file.task_ids
    for index, task in file.tasks.items():
        definition = definitions.get(task.name) if task.name else None
        if definition is not None:
            place = ("tasks", index, "input")
            for given in _inputs_of(task):
                found += schema_problems(place, given, definition.input_schema)
            if file.is_whole:
                found += _placeholder_problems(place, task, definition, task_ids)
    found += [doubt.problem for doubt in _doubts(file, definitions) if doubt.certain]
    return found


def static_warnings(
    file: Readable, registered: Mapping[str, TaskDefinition] | None = None
) -> list[Problem]:
    """Find what may be a mistake and may also be meant."""
    definitions = {**(registered or {}), **file.definitions}
    return [doubt.problem for doubt in _doubts(file, definitions) if not doubt.certain]


def _doubts(file: Readable, definitions: Mapping[str, TaskDefinition]) -> Iterator[Doubt]:
    specs = {index: task.spec() for index, task in file.tasks.items()}
    schemas = {name: one.checked_output for name, one in definitions.items()}
    return doubtful_references(specs, schemas)


def definition_problems(definitions: Mapping[str, TaskDefinition]) -> list[Problem]:
    templates = {name: one.template for name, one in definitions.items()}
    known = {name: one for name, one in templates.items() if one}
    kinds = {name: one.kind for name, one in definitions.items()}
    found = [
        problem
        for name, definition in definitions.items()
        for problem in _definition_problems(("definitions", name), definition)
    ]
    for name, template in known.items():
        problems = [*template_problems(template), *level_problems(name, template, known)]
        problems += kind_problems(template.tasks, kinds)
        found += [Problem(("definitions", name, *one.path), one.message) for one in problems]
    return found


def _mixed_up(file: Readable, definitions: Mapping[str, TaskDefinition]) -> list[Problem]:
    """Find tasks that take a template for something that a worker runs, or the reverse."""
    places = list(file.tasks)
    kinds = {name: one.kind for name, one in definitions.items()}
    found = kind_problems([task.spec() for task in file.tasks.values()], kinds)
    return [
        Problem(("tasks", places[int(one.path[1])], *one.path[2:]), one.message) for one in found
    ]


def _definition_problems(place: Place, definition: TaskDefinition) -> Iterator[Problem]:
    granted: list[tuple[Place, Sequence[str]]] = [(("tools",), definition.tools)]
    granted += [(("steps", n, "tools"), s.tools or ()) for n, s in enumerate(definition.steps)]
    for where, tools in granted:
        if tools and definition.backend == WITHOUT_TOOLS:
            said = f"the backend {WITHOUT_TOOLS!r} has no tools; leave them out"
            yield Problem((*place, *where), said)
        for number, tool in enumerate(tools):
            if not tool.startswith(OF_A_SERVER) and tool.partition("(")[0] not in KNOWN_TOOLS:
                hint = did_you_mean(tool, KNOWN_TOOLS)
                yield Problem((*place, *where, number), f"{tool!r} is not a tool{hint}")
    if definition.model and definition.backend != OFFLINE and not MODEL.search(definition.model):
        yield Problem((*place, "model"), f"{definition.model!r} is not a model of Claude")


def _inputs_of(task: TaskRequest) -> list[Any]:
    """Return what its runs are given: that of each item, where a fan-out's list is known."""
    try:
        items = list_in_input(task.spec())
    except (NotExpandable, NotAReference):  # which is reported with the file
        return []
    return [task.input] if items is None else [item.input for item in items.each[:MOST_ITEMS]]


def schema_problems(place: Place, value: Any, schema: Any) -> Iterator[Problem]:
    """Compare an input with the schema of its definition; references are not known yet."""
    if schema is None:
        return
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 60 ms
    from referencing import Registry  # noqa: PLC0415

    registry: Registry[Any] = Registry()  # of its own, so that nothing is fetched
    for error in Draft202012Validator(schema, registry=registry).iter_errors(value):
        if not _is_reference(error.instance):
            at = (*place, *error.absolute_path)
            yield from (Problem(at, said) for said in _sentences(error))


def _sentences(error: Any) -> Iterator[str]:
    """Yield what the library says, and of members that a schema forbids what was probably meant."""
    named = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    if error.validator != "additionalProperties" or error.validator_value is not False or not named:
        yield error.message
        return
    for member in [name for name in error.instance if name not in named]:
        hint = did_you_mean(member, named) or f"; known are {', '.join(list(named)[:MOST_NAMED])}"
        yield f"{member!r} is not allowed by the schema{hint}"


def _placeholder_problems(
    place: Place, task: TaskRequest, definition: TaskDefinition, task_ids: set[str]
) -> Iterator[Problem]:
    if definition.kind != "agent":
        return
    texts = [definition.description or "", *(step.description for step in definition.steps)]
    values = Values(input=task.input)
    for path in dict.fromkeys(tuple(path) for text in texts for path in paths_in(text)):
        placeholder = f"{{{{{'.'.join(path)}}}}}"
        named = f"{placeholder} in the definition {task.name!r}"
        if path[0] == "input" and not _may_have(values, path):
            yield Problem(place, f"{named} has no value; give the input {'.'.join(path[1:])!r}")
        elif path[0] == "tasks" and len(path) > 1 and path[1] not in task_ids:
            hint = did_you_mean(path[1], task_ids)
            yield Problem(place, f"{named} names a task that the job does not have{hint}")


def _may_have(values: Values, path: tuple[str, ...]) -> bool:
    """Whether there is a value, or a reference on the way whose value is not known yet."""
    if values.has([*path]):
        return True
    return any(
        values.has([*path[:end]]) and _is_reference(values.find([*path[:end]]))
        for end in range(1, len(path))
    )


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and "${" in value
