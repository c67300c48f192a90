"""Gathers a task's assignment: its pinned definition, its input, its parents' outputs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.contracts.definitions.steps import StepDefinition, output_file
from switchyard.domain.access.limits import WIDEST_CEILINGS, Ceilings
from switchyard.domain.errors import Rejected, TooMuch
from switchyard.domain.ids import in_scope, local_name
from switchyard.domain.json_values import problem_in
from switchyard.domain.measuring.spans import attempt_context
from switchyard.domain.prompts.references import (
    NotAReference,
    UnresolvedReference,
    references_in,
    resolve,
)
from switchyard.domain.tasks.task import NO_OVERRIDES, Json, Overrides, Payload, Task
from switchyard.ports import DefinitionStore, Payloads
from switchyard.settings import WorkerSettings
from switchyard_worker.boundary import CODE, Assignment, Code, Step
from switchyard_worker.guard.examine import Wrong
from switchyard_worker.parent.attempts.backends import resolve_backend
from switchyard_worker.parent.attempts.failed_parents import failed_parents
from switchyard_worker.parent.attempts.functions import ServedFunctions
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.inputs import InputFinder
from switchyard_worker.parent.attempts.promises import promises
from switchyard_worker.parent.supervision.child_environment import Credential


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The values for what a definition leaves open."""

    model: str
    timeout_ms: int
    step_timeout_ms: int
    ceilings: Ceilings = WIDEST_CEILINGS
    """Limits of the stage, which a definition registered before them may exceed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An attempt at a task."""

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
        tag=definition.tag or "",
        description=definition.description or "",
        max_turns=ceilings.turns(definition.max_turns),
        timeout_ms=ceilings.timeout_ms(definition.timeout or defaults.timeout_ms),
        tools=definition.tools,
        output_schema=says_the_output.output_schema,
        process_output=definition.process_output,
        steps=_steps(definition, defaults),
        input=order.input,
        context=dict(order.context),
        max_cost_usd=ceilings.cost_usd(definition.max_cost_usd),
        max_tokens=ceilings.tokens(definition.max_tokens),
    )


def planned_code(
    definition: TaskDefinition, order: Order, defaults: Defaults, *, code: Code
) -> Assignment:
    """Plan an attempt that asks no agent: it has no model, no tools and no turns."""
    timeout_ms = order.overrides.timeout_ms or definition.timeout or defaults.timeout_ms
    return Assignment(
        request_id=order.request_id,
        attempt=order.attempt,
        backend=CODE,
        model="",
        tag="",
        description="",
        max_turns=0,
        timeout_ms=defaults.ceilings.timeout_ms(timeout_ms),
        output_schema=definition.output_schema,
        input=order.input,
        context=dict(order.context),
        code=code,
    )


def _overridden(definition: TaskDefinition, overrides: Overrides) -> TaskDefinition:
    """Apply a redrive's limits, to each step too: a smaller one may be why it failed."""
    asked = {
        "model": overrides.model,
        "max_turns": overrides.max_turns,
        "timeout": overrides.timeout_ms,
        "max_cost_usd": overrides.max_cost_usd,
        "max_tokens": overrides.max_tokens,
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


KEPT_DEFINITIONS: Final = 256
MAX_CONTEXT_BYTES: Final = 32_000_000
"""The most bytes of other tasks' outputs that a task is given: more than any model reads; three
times as much, as Python holds it, fits beside the children."""

JsonObject = Mapping[str, Json]


class InvalidInput(Rejected):
    """The input lacks a value, or is not what the definition's schema asks for."""


class Assignments:
    def __init__(
        self,
        payloads: Payloads,
        definitions: DefinitionStore,
        settings: WorkerSettings,
        *,
        credential: Credential | None,
        inputs: InputFinder,
        functions: ServedFunctions | None = None,
    ) -> None:
        self._payloads = payloads
        self._inputs = inputs
        self._functions = functions or ServedFunctions()
        self._settings = settings
        self._credential = credential
        self._defaults = Defaults(
            model=settings.claude_model,
            timeout_ms=settings.claude_timeout,
            step_timeout_ms=settings.default_timeout,
            ceilings=settings.ceilings,
        )
        # A version never changes, so it is read once.
        self._definition = lru_cache(KEPT_DEFINITIONS)(definitions.version)

    def gather(self, task: Task) -> Assignment:
        """Raise `UnknownDefinition`, `OfflineRefused`, `NotServed`, `InvalidInput`, `NoSuchInput`,
        `MustNotStart` or `Unavailable`.

        The input is not yet held against its schema: that needs the guard.
        """
        definition = self._defined(task)
        code = self._functions.code_for(definition) if definition.kind == CODE else None
        payload = self._payloads.read_to_start(task.ref)
        given, context = self._given(task, payload)
        order = Order(
            request_id=task.ref.request_id,
            attempt=task.attempt,
            input=given,
            context=context,
            overrides=task.overrides,
        )
        return replace(
            self._planned(definition, order, tenant=task.ref.tenant, code=code),
            memory_mb=self._settings.child_memory_mb,
            offline_delay_ms=self._settings.offline_delay_ms,
            traceparent=attempt_context(task),
            inputs=self._inputs.found_for(task, payload.files, payload.scope)
            if payload.files
            else (),
            artifacts=payload.artifacts,
            **promises(definition, payload, task),
            failed_parents=failed_parents(task, payload, self._inputs.leases),
        )

    def _planned(
        self, definition: RegisteredDefinition, order: Order, *, tenant: str, code: Code | None
    ) -> Assignment:
        if code is not None:
            return planned_code(definition, order, self._defaults, code=code)
        backend = resolve_backend(
            definition,
            stage=self._settings.agent_backend,
            credential=self._credential,
            tenant=tenant,
        )
        return planned(definition, order, self._defaults, backend=backend)

    def timeout_ms(self, task: Task) -> int:
        """Return how long an attempt may take, gathering included. Raise as `gather` does."""
        definition = self._defined(task)
        return task.overrides.timeout_ms or definition.timeout or self._defaults.timeout_ms

    def input_schema(self, task: Task) -> JsonObject | None:
        return self._defined(task).input_schema

    def _defined(self, task: Task) -> RegisteredDefinition:
        return self._definition(task.ref.tenant, task.definition, task.definition_version)

    def _given(self, task: Task, payload: Payload) -> tuple[Json, Mapping[str, Json]]:
        """Return the input with its references resolved, and the outputs of the task's parents.

        Those of a template are called as they are there.
        """
        if task.ref.bare:  # its producer knows nothing of references
            return payload.input, payload.context
        try:
            named = [in_scope(payload.scope, one.task_id) for one in references_in(payload.input)]
            wanted = list(dict.fromkeys([*payload.depends_on, *named]))
            found = self._outputs(task, wanted)
            outputs = {local_name(name): output for name, output in found.items()}
            given = resolve(payload.input, outputs)
        except (NotAReference, UnresolvedReference) as error:
            raise InvalidInput(f"the input cannot be filled in: {error}") from error
        problem = problem_in(given) if named else None
        if problem:
            raise InvalidInput(f"the input, with what its references bring in, {problem}")
        parents = [local_name(name) for name in payload.depends_on]
        return given, {name: outputs[name] for name in parents if name in outputs}

    def _outputs(self, task: Task, wanted: Sequence[str]) -> Mapping[str, Json]:
        if not wanted:
            return {}
        try:
            return self._payloads.outputs(task.ref.job, wanted, max_bytes=MAX_CONTEXT_BYTES)
        except TooMuch as problem:
            raise InvalidInput(f"what the task is given is too much: {problem}") from problem


async def check_input(document: bytes, schema: JsonObject, guard: GuardClient) -> None:
    """Hold an input against its schema. Raise `InvalidInput` or `GuardUnavailable`."""
    finding = await guard.check_value(document, schema)
    match finding.wrong:
        case None:
            return
        case Wrong.MISMATCH:
            raise InvalidInput(f"the input does not match its schema: {finding.message}")
    raise InvalidInput(f"the input schema cannot be applied: {finding.message}")


def input_document(assignment: Assignment) -> bytes:
    return json.dumps(assignment.input, ensure_ascii=False).encode("utf-8", "surrogatepass")
