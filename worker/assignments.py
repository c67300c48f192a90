"""Gathers what a child needs: the pinned definition, the input, what its parents made."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.errors import Rejected
from switchyard.domain.task import Json, Payload, Task
from switchyard.settings import WorkerSettings
from worker.backend import resolve_backend
from worker.child_environment import Credential
from worker.planning import Defaults, Order, planned
from worker.schema_check import UnusableSchema
from worker.schema_guard import guarded_mismatch
from worker.task.assignment import Assignment

KEPT_DEFINITIONS: Final = 256


class InvalidInput(Rejected):
    """The input is not what the definition's schema asks for."""


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
        _check_input(payload.input, definition)
        order = Order(
            request_id=task.ref.request_id,
            attempt=task.attempt,
            input=payload.input,
            context=self._context(task, payload),
        )
        backend = resolve_backend(
            definition, stage=self._settings.agent_backend, credential=self._credential
        )
        return replace(
            planned(definition, order, self._defaults, backend=backend),
            memory_mb=self._settings.child_memory_mb,
            offline_delay_ms=self._settings.offline_delay_ms,
        )

    def _context(self, task: Task, payload: Payload) -> Mapping[str, Json]:
        if not payload.depends_on:
            return payload.context
        return self._ports.payloads.outputs(task.ref.job, payload.depends_on)


def _check_input(given: Json, definition: RegisteredDefinition) -> None:
    if definition.input_schema is None:
        return
    try:
        problem = guarded_mismatch(given, definition.input_schema)
    except UnusableSchema as error:
        raise InvalidInput(f"the input schema cannot be applied: {error}") from error
    if problem:
        raise InvalidInput(f"the input does not match its schema: {problem}")
