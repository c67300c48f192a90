"""Gathers what a child needs: the pinned definition, the input, what its parents made."""

from collections.abc import Mapping

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.task import Json, Payload, Task
from switchyard.settings import WorkerSettings
from worker.backend import resolve_backend
from worker.child_environment import Credential
from worker.task.assignment import Assignment


class Assignments:
    def __init__(
        self, ports: WorkerPorts, settings: WorkerSettings, *, credential: Credential | None
    ) -> None:
        self._ports = ports
        self._settings = settings
        self._credential = credential

    def gather(self, task: Task) -> Assignment:
        """Raise `UnknownDefinition`, `OfflineRefused` or `Unavailable`."""
        definition = self._ports.definitions.version(
            task.ref.tenant, task.definition, task.definition_version
        )
        payload = self._ports.payloads.read(task.ref)
        context = self._ports.payloads.outputs(task.ref.job, payload.depends_on)
        return self._assignment(task, definition, payload, context)

    def _assignment(
        self,
        task: Task,
        definition: RegisteredDefinition,
        payload: Payload,
        context: Mapping[str, Json],
    ) -> Assignment:
        return Assignment(
            request_id=task.ref.request_id,
            attempt=task.attempt,
            backend=resolve_backend(
                definition, stage=self._settings.agent_backend, credential=self._credential
            ),
            model=definition.model or self._settings.claude_model,
            tag=definition.tag,
            description=definition.description,
            max_turns=definition.max_turns,
            timeout_ms=definition.timeout or self._settings.claude_timeout,
            tools=definition.tools,
            output_schema=definition.output_schema,
            input=payload.input,
            context=dict(context),
            offline_delay_ms=self._settings.offline_delay_ms,
        )
