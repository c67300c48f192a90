"""Everything in memory, wired together."""

from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.memory.adoption import MemoryTaskAdoption
from switchyard.adapters.memory.dispatching import MemoryDispatchQueue
from switchyard.adapters.memory.event_reader import MemoryEventReader
from switchyard.adapters.memory.graph import MemoryTaskGraph
from switchyard.adapters.memory.jobs import MemoryJobIntake, MemoryJobStore
from switchyard.adapters.memory.leases import MemoryTaskLeases
from switchyard.adapters.memory.overdue import MemoryOverdue
from switchyard.adapters.memory.payloads import MemoryPayloads
from switchyard.adapters.memory.registry import MemoryApiKeys, MemoryDefinitionStore
from switchyard.adapters.memory.state import MemoryState
from switchyard.adapters.memory.transport import (
    MemoryBlobStore,
    MemoryBus,
    MemoryEventLog,
    MemoryTaskQueue,
)
from switchyard.ports import Clock


class MemoryYard:
    def __init__(self, clock: Clock) -> None:
        self.state = MemoryState()
        self.intake = MemoryJobIntake(self.state)
        self.jobs = MemoryJobStore(self.state)
        self.leases = MemoryTaskLeases(self.state)
        self.adoption = MemoryTaskAdoption(self.state)
        self.graph = MemoryTaskGraph(self.state)
        self.overdue = MemoryOverdue(self.state)
        self.payloads = MemoryPayloads(self.state)
        self.definitions = MemoryDefinitionStore()
        self.keys = MemoryApiKeys()
        self.queue = MemoryTaskQueue(clock)
        self.dispatches = MemoryDispatchQueue()
        self.bus = MemoryBus()
        self.log = MemoryEventLog()
        self.blobs = MemoryBlobStore()
        self.reader = MemoryEventReader(self.log, EventOverflow(self.blobs, "bucket"))
