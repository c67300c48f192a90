"""Everything in memory, wired together."""

from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.memory.additions import MemoryTaskAdditions
from switchyard.adapters.memory.adoption import MemoryTaskAdoption
from switchyard.adapters.memory.cancelling import MemoryCancelling
from switchyard.adapters.memory.consumption import MemoryConsumption
from switchyard.adapters.memory.counters import MemoryCounters, MemoryPublishedMinutes
from switchyard.adapters.memory.deployments import MemoryDeployments
from switchyard.adapters.memory.dispatching import MemoryDispatchQueue
from switchyard.adapters.memory.event_reader import MemoryEventReader
from switchyard.adapters.memory.graph import MemoryTaskGraph
from switchyard.adapters.memory.jobs import MemoryJobIntake, MemoryJobStore
from switchyard.adapters.memory.leases import MemoryTaskLeases
from switchyard.adapters.memory.open_tasks import MemoryOpenTasks
from switchyard.adapters.memory.overdue import MemoryOverdue
from switchyard.adapters.memory.payloads import MemoryPayloads
from switchyard.adapters.memory.presence import MemoryPresence
from switchyard.adapters.memory.redriving import MemoryRedriving
from switchyard.adapters.memory.registry import MemoryApiKeys, MemoryDefinitionStore
from switchyard.adapters.memory.request_rates import MemoryRequestRates
from switchyard.adapters.memory.state import MemoryState
from switchyard.adapters.memory.submission_keys import MemorySubmissionKeys
from switchyard.adapters.memory.tenants import MemoryTenantStore
from switchyard.adapters.memory.transport import (
    MemoryBlobStore,
    MemoryBus,
    MemoryEventLog,
    MemoryLinks,
    MemoryTaskQueue,
)
from switchyard.adapters.memory.unsettled import MemoryUnsettled
from switchyard.ports import Clock


class MemoryYard:
    def __init__(self, clock: Clock) -> None:
        self.state = MemoryState()
        self.intake = MemoryJobIntake(self.state)
        self.jobs = MemoryJobStore(self.state)
        self.leases = MemoryTaskLeases(self.state)
        self.adoption = MemoryTaskAdoption(self.state)
        self.additions = MemoryTaskAdditions(self.state)
        self.graph = MemoryTaskGraph(self.state)
        self.overdue = MemoryOverdue(self.state)
        self.unsettled = MemoryUnsettled(self.state)
        self.payloads = MemoryPayloads(self.state)
        self.cancelling = MemoryCancelling(self.state)
        self.redriving = MemoryRedriving(self.state)
        self.definitions = MemoryDefinitionStore()
        self.keys = MemoryApiKeys()
        self.tenants = MemoryTenantStore()
        self.open_tasks = MemoryOpenTasks()
        self.rates = MemoryRequestRates()
        self.consumption = MemoryConsumption()
        self.presence = MemoryPresence()
        self.deployments = MemoryDeployments()
        self.counters = MemoryCounters()
        self.published = MemoryPublishedMinutes()
        self.submission_keys = MemorySubmissionKeys(self.state)
        self.queue = MemoryTaskQueue(clock)
        self.dispatches = MemoryDispatchQueue()
        self.bus = MemoryBus()
        self.log = MemoryEventLog()
        self.blobs = MemoryBlobStore()
        self.links = MemoryLinks(self.blobs)
        self.reader = MemoryEventReader(self.log, EventOverflow(self.blobs, "bucket"))
