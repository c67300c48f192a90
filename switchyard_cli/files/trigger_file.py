"""Trigger files: job templates, and what starts them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from switchyard.contracts.triggers import TenantName, Trigger
from switchyard.contracts.triggers.checks import trigger_problems
from switchyard.contracts.wire import Closed
from switchyard.domain.errors import Problem
from switchyard_cli.files.document import Document, read_document
from switchyard_cli.files.job_file import Definitions, refuse_kind, validated
from switchyard_cli.files.readable import nothing_more


class DeclaredTrigger(Trigger):
    tenant: TenantName | None = None

    @property
    def trigger(self) -> Trigger:
        return Trigger.model_validate(self.model_dump(exclude={"tenant"}, exclude_unset=True))


class TriggerFile(Closed):
    triggers: tuple[DeclaredTrigger, ...]
    definitions: Definitions = Field(default_factory=dict)
    """The definitions that `triggers apply` registers before it adds the triggers."""


TriggerCheck = Callable[[TriggerFile], list[Problem]]


@dataclass(frozen=True)
class SourcedTriggers:
    document: Document
    content: TriggerFile


def read_triggers(
    file: Path, tenant: str | None = None, *, also: TriggerCheck = nothing_more
) -> SourcedTriggers:
    """Raise `InvalidFile` with every problem, those that `also` finds included.

    With a `tenant`, triggers that name another one are refused.
    """
    document = read_document(file)
    refuse_kind(document, "tasks", "triggers", "a job file: `switchyard submit {}`")
    content = validated(document, TriggerFile)
    problems = [] if content.triggers else [Problem(("triggers",), "there are none")]
    problems += [
        Problem(("triggers", index, *problem.path), problem.message)
        for index, declared in enumerate(content.triggers)
        for problem in trigger_problems(declared)
    ]
    problems += [*_used_twice(content.triggers), *_contradictions(content.triggers, tenant)]
    problems += also(content)
    if problems:
        raise document.invalid(problems)
    return SourcedTriggers(document, content)


def _contradictions(triggers: Sequence[DeclaredTrigger], tenant: str | None) -> list[Problem]:
    return [
        Problem(("triggers", index, "tenant"), f"is {declared.tenant}, but --tenant says {tenant}")
        for index, declared in enumerate(triggers)
        if tenant and declared.tenant and declared.tenant != tenant
    ]


def _used_twice(triggers: Sequence[DeclaredTrigger]) -> list[Problem]:
    times = Counter((declared.tenant, declared.name) for declared in triggers)
    return [
        Problem(("triggers", index, "name"), f"{declared.name!r} is used twice")
        for index, declared in enumerate(triggers)
        if times[declared.tenant, declared.name] > 1
    ]
