"""What a definition asks for, or its redrive instead, with all that is left open filled in."""

from collections.abc import Mapping
from dataclasses import dataclass

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.steps import StepDefinition, output_file
from switchyard.domain.access.ceilings import WIDEST_CEILINGS, Ceilings
from switchyard.domain.tasks.task import NO_OVERRIDES, Json, Overrides
from worker.task.assignment import Assignment, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """For what a definition does not say."""

    model: str
    timeout_ms: int
    step_timeout_ms: int
    ceilings: Ceilings = WIDEST_CEILINGS
    """What bounds a definition, which may be older than they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One attempt at a task."""

    request_id: str
    attempt: int
    input: Json
    context: Mapping[str, Json]
    overrides: Overrides = NO_OVERRIDES


def planned(
    defined: TaskDefinition, order: Order, defaults: Defaults, *, backend: str
) -> Assignment:
    definition = _overridden(defined, order.overrides)
    ceilings = defaults.ceilings
    says_the_output = definition.steps[-1] if definition.steps else definition
    return Assignment(
        request_id=order.request_id,
        attempt=order.attempt,
        backend=backend,
        model=definition.model or defaults.model,
        tag=definition.tag,
        description=definition.description,
        max_turns=ceilings.turns(definition.max_turns),
        timeout_ms=ceilings.timeout_ms(definition.timeout or defaults.timeout_ms),
        tools=definition.tools,
        output_schema=says_the_output.output_schema,
        process_output=definition.process_output,
        steps=_steps(definition, defaults),
        input=order.input,
        context=dict(order.context),
        max_cost_usd=ceilings.cost_usd(definition.max_cost_usd),
    )


def _overridden(definition: TaskDefinition, overrides: Overrides) -> TaskDefinition:
    """A limit that a redrive asked for is each step's too: a smaller one may be why it failed."""
    asked = {
        "model": overrides.model,
        "max_turns": overrides.max_turns,
        "timeout": overrides.timeout_ms,
        "max_cost_usd": overrides.max_cost_usd,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    limits = {name: value for name, value in given.items() if name in StepDefinition.model_fields}
    steps = tuple(step.model_copy(update=limits) for step in definition.steps)
    return definition.model_copy(update={**given, "steps": steps})


def _steps(definition: TaskDefinition, defaults: Defaults) -> tuple[Step, ...]:
    return tuple(
        Step(
            name=step.name,
            description=f"{definition.description}\n\n## Step: {step.name}\n\n{step.description}",
            output_file=output_file(step, last=step is definition.steps[-1]),
            max_turns=defaults.ceilings.turns(step.max_turns or definition.max_turns),
            timeout_ms=step.timeout or defaults.step_timeout_ms,
            tools=definition.tools if step.tools is None else step.tools,
            output_schema=step.output_schema,
            process_output=step.process_output,
        )
        for step in definition.steps
    )
