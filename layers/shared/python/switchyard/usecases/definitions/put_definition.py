"""Registers a task definition under a name, as a new version when it says something new."""

from typing import Final

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.errors import InvalidDefinition, Problem
from switchyard.domain.ids import DEFINITION_NAME, DEFINITION_NAME_RULE
from switchyard.domain.jobs.graph import unknown_names
from switchyard.domain.nested_jobs.job_templates import (
    kind_problems,
    level_problems,
    template_problems,
)
from switchyard.ports import DefinitionStore
from switchyard.usecases.jobs.task_requests import (
    commitment_problems,
    kinds_of,
    named_definitions,
    pinned,
)

MAX_DEFINITION_BYTES: Final = 64_000


def put_definition(
    tenant: str,
    name: str,
    definition: TaskDefinition,
    *,
    definitions: DefinitionStore,
    ceilings: Ceilings,
) -> RegisteredDefinition:
    """Raise `InvalidDefinition`, also for what is above a ceiling of the stage."""
    accepted = accepted_definition(name, definition, ceilings)
    return definitions.put(tenant, name, with_pins(tenant, name, accepted, definitions, ceilings))


def accepted_definition(
    name: str, definition: TaskDefinition, ceilings: Ceilings
) -> TaskDefinition:
    """Return the definition as the stage registers it. Raise `InvalidDefinition`."""
    if not DEFINITION_NAME.fullmatch(name):
        raise InvalidDefinition([Problem(("name",), f"must be {DEFINITION_NAME_RULE}")])
    size = len(definition.model_dump_json(by_alias=True).encode())
    if size > MAX_DEFINITION_BYTES:
        most = f"at most {MAX_DEFINITION_BYTES:,} are accepted"
        raise InvalidDefinition([Problem((), f"the definition is {size:,} bytes; {most}")])
    if definition.kind == "agent" and "max_turns" not in definition.model_fields_set:
        definition = definition.model_copy(update={"max_turns": ceilings.turns(None)})
    template = definition.template
    problems = definition.problems_with(ceilings)
    problems += template_problems(template) if template else []
    if problems:
        raise InvalidDefinition(problems)
    return definition


def with_pins(
    tenant: str,
    name: str,
    definition: TaskDefinition,
    definitions: DefinitionStore,
    ceilings: Ceilings,
) -> TaskDefinition:
    """Fix the versions of what a template's tasks name: the latest ones. Raise `InvalidDefinition`.

    A version of a template is the same job for ever; what they say later comes with the next one.
    """
    template = definition.template
    if template is None:
        return definition
    found = named_definitions(tenant, template.tasks, definitions)
    templates = {one: other.template for one, other in found.items()}
    known = {one: other for one, other in templates.items() if other}
    problems = [
        *unknown_names(template.tasks, found),
        *kind_problems(template.tasks, kinds_of(found)),
        *commitment_problems(template.tasks, found, ceilings),
        *level_problems(name, template, known),
    ]
    if problems:
        raise InvalidDefinition(problems)
    return definition.model_copy(update={"pinned": pinned(found)})
