"""Reads the work queues that tasks name, and says what is wrong with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.errors import Problem
from switchyard.domain.ids import DEFAULT_QUEUE
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.nested_jobs.job_templates import JobTemplate
from switchyard.domain.scheduling.limit_names import UnresolvedKey, resolved_limits
from switchyard.domain.scheduling.placement import Placing, Wish
from switchyard.domain.scheduling.work_queues import (
    DEFAULT_GROUPS,
    DefinitionTerms,
    UnknownWorkQueue,
    WorkQueue,
    problem_with_group,
)
from switchyard.domain.text import did_you_mean
from switchyard.ports.work_queues import WorkQueueStore

MOST_SUGGESTED_FROM: Final = 200
"""How many queues are read to suggest one, after a mistake."""


@dataclass(frozen=True, kw_only=True)
class NamedQueues:
    store: WorkQueueStore | None = None
    """`None` where there is no queue but `default`."""
    groups: tuple[str, ...] = DEFAULT_GROUPS
    """The groups of the stage."""

    def read(self, tenant: str, names: Iterable[str | None]) -> Mapping[str, WorkQueue]:
        """Read those that exist; what names none costs nothing."""
        wanted = {name for name in names if name and name != DEFAULT_QUEUE}
        return self.store.find_many(tenant, wanted) if self.store and wanted else {}

    def of_template(self, tenant: str, template: JobTemplate, wish: str | None) -> Placing:
        """Read the queues of a template's tasks. Raise `UnknownWorkQueue`."""
        terms = [pin.terms.queue for pin in template.pinned.values() if pin.terms]
        names = [wish, *terms, *(spec.queue for spec in template.tasks)]
        queues = self.read(tenant, names)
        for name in names:
            if name and name != DEFAULT_QUEUE and name not in queues:
                raise UnknownWorkQueue(name)
        return Placing(queues=queues)

    def checked(
        self,
        tenant: str,
        specs: Sequence[TaskSpec],
        definitions: Mapping[str, RegisteredDefinition],
        wish: Wish,
    ) -> tuple[Mapping[str, WorkQueue], list[Problem]]:
        """Read the queues of new tasks, and find what is wrong with them and their limits."""
        named = list(_named(specs, definitions, wish))
        queues = self.read(tenant, [name for _, name in named])
        problems = self._problems(tenant, named, queues)
        if not problems:
            problems = key_problems(specs, definitions, Placing(queues=queues, wish=wish))
        return queues, problems

    def _problems(
        self,
        tenant: str,
        named: Iterable[tuple[tuple[str | int, ...], str]],
        queues: Mapping[str, WorkQueue],
    ) -> list[Problem]:
        """Report each queue at the first place that names it."""
        first: dict[str, tuple[str | int, ...]] = {}
        for path, name in named:
            first.setdefault(name, path)
        problems = []
        for name, path in first.items():
            wrong = self._problem(tenant, name, queues)
            if wrong:
                problems.append(Problem(path, wrong))
        return problems

    def _problem(self, tenant: str, name: str, queues: Mapping[str, WorkQueue]) -> str | None:
        if name == DEFAULT_QUEUE:
            return None
        if name in queues:
            return problem_with_group(name, self.groups)
        hint = did_you_mean(name, self._some_names(tenant))
        create = f"; create it with `switchyard queues create {name}`"
        return f"there is no queue {name!r}{hint or create}"

    def _some_names(self, tenant: str) -> list[str]:
        if self.store is None:
            return [DEFAULT_QUEUE]
        page = self.store.page(tenant, limit=MOST_SUGGESTED_FROM)
        return [DEFAULT_QUEUE, *(queue.name for queue in page.queues)]


NO_NAMED_QUEUES: Final = NamedQueues()


def _named(
    specs: Sequence[TaskSpec], definitions: Mapping[str, RegisteredDefinition], wish: Wish
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every queue that is named, with its place in the request."""
    if wish.queue:
        yield ("queue",), wish.queue
    for index, spec in enumerate(specs):
        if spec.queue:
            yield ("tasks", index, "queue"), spec.queue
        definition = definitions.get(spec.name)
        for name in _of_definition(definition) if definition else ():
            yield ("tasks", index, "name"), name


def _of_definition(definition: RegisteredDefinition) -> Iterator[str]:
    if definition.queue:
        yield definition.queue
    template = definition.template
    if template is not None:
        yield from (spec.queue for spec in template.tasks if spec.queue)
        yield from (p.terms.queue for p in template.pinned.values() if p.terms and p.terms.queue)


def key_problems(
    specs: Sequence[TaskSpec],
    definitions: Mapping[str, RegisteredDefinition],
    placing: Placing,
) -> list[Problem]:
    """Find tasks whose input lacks the value that a limit of theirs is counted by."""
    problems = []
    for index, spec in enumerate(specs):
        definition = definitions.get(spec.name)
        if definition is None or spec.hold or spec.nested or spec.fan_out:
            continue
        limits = limits_of_task(spec, definition.terms, placing)
        try:
            resolved_limits(limits, spec.input)
        except UnresolvedKey as problem:
            problems.append(Problem(("tasks", index, "input"), str(problem)))
    return problems


def limits_of_task(
    spec: TaskSpec, terms: DefinitionTerms | None, placing: Placing
) -> tuple[str, ...]:
    wish = Wish(queue=spec.queue, priority=spec.priority).over(placing.wish)
    return placing.placed(wish, spec.name, terms, max_attempts=1).limits
