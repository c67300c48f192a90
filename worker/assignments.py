"""Gathers what a child needs: the pinned definition, the input, what its parents made."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.errors import Rejected
from switchyard.domain.measuring.tracing import attempt_context
from switchyard.domain.prompts.reference_syntax import NotAReference, references_in
from switchyard.domain.prompts.references import MissingValue, resolve
from switchyard.domain.tasks.task import Json, Payload, Task
from switchyard.settings import WorkerSettings
from worker.backend import resolve_backend
from worker.child_environment import Credential
from worker.planning import Defaults, Order, planned
from worker.schema_check import UnusableSchema
from worker.schema_guard import guarded_mismatch
from worker.task.assignment import Assignment

KEPT_DEFINITIONS: Final = 256


class InvalidInput(Rejected):
    """The input lacks a value, or is not what the definition's schema asks for."""


class Assignments:
    def __init__(
        self, ports: WorkerPorts, settings: WorkerSettings, *, credential: Credential | None
    ) -> None:
        self._ports = ports
        self._settings = settings
        self._credential = credential
        self._defaults = Defaults(
            model=settings.claude_model,
            timeout_ms=settings.claude_timeout,
            step_timeout_ms=settings.default_timeout,
        )
        # A version never changes, so it is read once.
        self._definition = lru_cache(KEPT_DEFINITIONS)(ports.definitions.version)

    def gather(self, task: Task) -> Assignment:
        """Raise `UnknownDefinition`, `OfflineRefused`, `InvalidInput` or `Unavailable`."""
        definition = self._definition(task.ref.tenant, task.definition, task.definition_version)
        payload = self._ports.payloads.read(task.ref)
        given, context = self._given(task, payload)
        _check_input(given, definition)
        order = Order(
            request_id=task.ref.request_id,
            attempt=task.attempt,
            input=given,
            context=context,
            overrides=task.overrides,
        )
        backend = resolve_backend(
            definition, stage=self._settings.agent_backend, credential=self._credential
        )
        return replace(
            planned(definition, order, self._defaults, backend=backend),
            memory_mb=self._settings.child_memory_mb,
            offline_delay_ms=self._settings.offline_delay_ms,
            traceparent=attempt_context(task),
        )

    def _given(self, task: Task, payload: Payload) -> tuple[Json, Mapping[str, Json]]:
        """The input with what its references stand for, and what the task's parents made."""
        if task.ref.bare:  # its producer knows nothing of references
            return payload.input, payload.context
        try:
            named = [reference.task_id for reference in references_in(payload.input)]
            wanted = list(dict.fromkeys([*payload.depends_on, *named]))
            outputs = self._ports.payloads.outputs(task.ref.job, wanted) if wanted else {}
            given = resolve(payload.input, outputs)
        except (NotAReference, MissingValue) as error:
            raise InvalidInput(f"the input cannot be filled in: {error}") from error
        return given, {name: outputs[name] for name in payload.depends_on if name in outputs}


def _check_input(given: Json, definition: RegisteredDefinition) -> None:
    if definition.input_schema is None:
        return
    try:
        problem = guarded_mismatch(given, definition.input_schema)
    except UnusableSchema as error:
        raise InvalidInput(f"the input schema cannot be applied: {error}") from error
    if problem:
        raise InvalidInput(f"the input does not match its schema: {problem}")
