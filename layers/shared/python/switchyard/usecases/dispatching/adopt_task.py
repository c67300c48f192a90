"""Takes in another producer's task, as the tenant's own."""

from dataclasses import dataclass

from switchyard.contracts.messages import ForeignTask
from switchyard.domain.errors import UnknownDefinition
from switchyard.domain.jobs.adoption import Adoption, adopted_task
from switchyard.domain.scheduling.placement import Placing
from switchyard.ports import Clock, DefinitionStore, TaskAdoption
from switchyard.usecases.queues.named_queues import NO_NAMED_QUEUES, NamedQueues


@dataclass(frozen=True, kw_only=True)
class Adopter:
    definitions: DefinitionStore
    adoption: TaskAdoption
    clock: Clock
    queues: NamedQueues = NO_NAMED_QUEUES

    def adopt(self, foreign: ForeignTask) -> None:
        """Adopt with the definition as it is now, for good. Raise `UnknownDefinition`, also for the
        template of a job, which no worker runs.

        If there is a task of that id, it stays as it is.
        """
        latest = self.definitions.latest(foreign.ref.tenant, [foreign.name])
        definition = latest.get(foreign.name)
        if definition is None or definition.kind == "job":
            raise UnknownDefinition(foreign.name)
        queues = self.queues.read(foreign.ref.tenant, [definition.queue])
        if definition.queue not in queues:  # nobody is there to be refused
            definition = definition.model_copy(update={"queue": None})
        placing = Placing(queues=queues)
        task = adopted_task(
            foreign.ref,
            definition=definition.name,
            pinned=definition.pin,
            now_ms=self.clock.now_ms(),
            trace=foreign.trace,
            placing=placing,
            given=foreign.input,
        )
        self.adoption.adopt(Adoption(task, foreign.input, foreign.context))
