"""The template of a job that is a task: its tasks, and what can be wrong with them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.fan_out.requests import problems_with_texts
from switchyard.domain.fan_out.templates import INPUT, named_part, parts_of_template
from switchyard.domain.ids import ITEM_KEY, ITEM_KEY_RULE
from switchyard.domain.jobs.file_checks import references_elsewhere
from switchyard.domain.jobs.graph import TaskSpec, problems_in
from switchyard.domain.jobs.limits import MAX_NAMES
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.prompts.references import (
    NotAReference,
    Reference,
    parts_of,
    reference_problems,
    texts_in,
)
from switchyard.domain.tasks.task import Json

MAX_TEMPLATE_TASKS: Final = 200
MAX_LEVELS: Final = 3
"""A job, a job in it, and a job in that."""
MAX_PARENTS: Final = MAX_NAMES - 1
"""The most parents of a task, which also waits for the start; beyond it a relay would be needed."""
OUTPUT: Final = "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTemplate:
    tasks: tuple[TaskSpec, ...]
    output: Json = None
    """The output of the job, with references to its tasks; `None` for its last tasks' outputs."""
    pinned: Mapping[str, Pinned] = field(default_factory=dict)
    """The fixed version of each definition that a task names."""

    @property
    def has_jobs(self) -> bool:
        return any(spec.nested for spec in self.tasks)


def with_list_of_template(spec: TaskSpec) -> TaskSpec:
    """Let a fan-out take its list from the template's input, if its own does not have it."""
    text = spec.fan_out.for_each[0] if spec.fan_out else ""
    own = {} if spec.input is None else spec.input
    if not text.startswith(f"${{{INPUT}") or not isinstance(own, dict):
        return spec
    try:
        name, *_ = named_part(text).steps or (None,)
    except NotAReference:  # which is reported with the template
        return spec
    if not isinstance(name, str) or name in own:
        return spec
    return replace(spec, input={**own, name: f"${{{INPUT}.{name}}}"})


def template_problems(template: JobTemplate) -> list[Problem]:
    """Find everything that is wrong with a template by itself."""
    specs = [with_list_of_template(spec) for spec in template.tasks]
    if len(specs) > MAX_TEMPLATE_TASKS:
        said = f"a template has at most {MAX_TEMPLATE_TASKS} tasks, this one {len(specs):,}"
        return [Problem(("tasks",), said)]
    return [
        *problems_in(specs),
        *_bounds(specs),
        *(one for index, spec in enumerate(specs) for one in problems_with_texts(spec, index)),
        *_input_problems(specs),
        *reference_problems(specs, elsewhere=references_elsewhere(specs)),
        *_output_problems(template),
    ]


def _bounds(specs: Sequence[TaskSpec]) -> Iterator[Problem]:
    for index, spec in enumerate(specs):
        if len(spec.depends_on) > MAX_PARENTS:
            said = f"has {len(spec.depends_on)} tasks; one of a template has at most {MAX_PARENTS}"
            yield Problem(("tasks", index, "dependsOn"), said)
        if not ITEM_KEY.fullmatch(spec.task_id):
            yield Problem(("tasks", index, "taskId"), f"in a template must be {ITEM_KEY_RULE}")


def _input_problems(specs: Sequence[TaskSpec]) -> Iterator[Problem]:
    for index, spec in enumerate(specs):
        for place, text in texts_in(spec.input):
            try:
                parts_of_template(text, of_items=False)
            except NotAReference as problem:
                said = f"{problem.shown} is no part of the input: one looks like ${{input.name[0]}}"
                yield Problem(("tasks", index, "input", *place), said)


def _output_problems(template: JobTemplate) -> Iterator[Problem]:
    known = {spec.task_id for spec in template.tasks}
    for place, text in texts_in(template.output):
        path = (OUTPUT, *place)
        try:
            parts = parts_of(text)
        except NotAReference as problem:
            yield Problem(path, str(problem))
            continue
        for part in parts:
            if isinstance(part, Reference) and part.task_id not in known:
                said = f"{part.text} names {part.task_id!r}, which is no task of the template"
                yield Problem(path, said)


def kind_problems(specs: Sequence[TaskSpec], kinds: Mapping[str, str]) -> list[Problem]:
    """Find tasks that take a template for something that a worker runs, or the reverse.

    `kinds` are those of the definitions that are known.
    """
    problems = []
    for index, spec in enumerate(specs):
        kind = kinds.get(spec.name)
        if kind is None or spec.nested == (kind == "job"):
            continue
        said = (
            f"{spec.name!r} is of kind {kind}; kind: job needs a definition of kind job"
            if spec.nested
            else f"{spec.name!r} is the template of a job; write kind: job beside its name"
        )
        problems.append(Problem(("tasks", index, "name"), said))
    return problems


def level_problems(
    name: str, template: JobTemplate, known: Mapping[str, JobTemplate]
) -> list[Problem]:
    """Refuse jobs in a template that are too deep; `known` has the templates that it may use."""
    problems = []
    for index, spec in enumerate(template.tasks):
        if spec.nested and spec.name == name:
            problems.append(
                Problem(("tasks", index, "name"), f"{name!r} cannot be a part of itself")
            )
            continue
        chain = _chain((name, spec.name), known) if spec.nested else ()
        if len(chain) >= MAX_LEVELS:
            said = (
                f"{' → '.join(chain)} are {len(chain)} jobs in one another, and with the job that "
                f"uses them one more; at most {MAX_LEVELS} levels are possible"
            )
            problems.append(Problem(("tasks", index, "name"), said))
    return problems


def _chain(names: tuple[str, ...], known: Mapping[str, JobTemplate]) -> tuple[str, ...]:
    """Return the longest chain of templates, as far as it has to be known."""
    template = known.get(names[-1])
    if len(names) >= MAX_LEVELS or template is None:
        return names
    chains = [_chain((*names, one.name), known) for one in template.tasks if one.nested]
    return max(chains, key=len, default=names)


def used_first(templates: Mapping[str, JobTemplate | None]) -> list[str]:
    """Sort definitions, each with its template, if it has one, so that what is named comes first.

    In a circle there is no such order, and the given one stays: it is refused elsewhere.
    """
    named = {
        name: [one.name for one in template.tasks if one.name in templates] if template else []
        for name, template in templates.items()
    }
    try:
        return list(TopologicalSorter(named).static_order())
    except CycleError:
        return list(templates)
