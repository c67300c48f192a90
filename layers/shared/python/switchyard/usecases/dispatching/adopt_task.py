"""Takes in another producer's task, as the tenant's own."""

from dataclasses import dataclass

from switchyard.contracts.messages import ForeignTask
from switchyard.domain.errors import UnknownDefinition
from switchyard.domain.jobs.adoption import Adoption, adopted_task
from switchyard.domain.jobs.plan import Pinned
from switchyard.ports import Clock, DefinitionStore, TaskAdoption


@dataclass(frozen=True, kw_only=True)
class Adopter:
    definitions: DefinitionStore
    adoption: TaskAdoption
    clock: Clock

    def adopt(self, foreign: ForeignTask) -> None:
        """Adopt with the definition as it is now, for good. Raise `UnknownDefinition`, also for the
        template of a job, which no worker runs.

        If there is a task of that id, it stays as it is.
        """
        latest = self.definitions.latest(foreign.ref.tenant, [foreign.name])
        definition = latest.get(foreign.name)
        if definition is None or definition.kind == "job":
            raise UnknownDefinition(foreign.name)
        task = adopted_task(
            foreign.ref,
            definition=definition.name,
            pinned=Pinned(definition.version, definition.retry.max_attempts),
            now_ms=self.clock.now_ms(),
            trace=foreign.trace,
        )
        self.adoption.adopt(Adoption(task, foreign.input, foreign.context))
