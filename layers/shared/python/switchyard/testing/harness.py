"""A harness of all ports in memory, wired together."""

from switchyard.adapters.eventbridge import EventOverflow
from switchyard.ports import Clock
from switchyard.testing.additions import MemoryTaskAdditions, MemoryTaskAdoption
from switchyard.testing.cancellation import MemoryCancelling
from switchyard.testing.counters import MemoryCounters, MemoryPublishedMinutes
from switchyard.testing.event_reader import MemoryEventReader
from switchyard.testing.graph import MemoryFanOuts, MemoryTaskGraph
from switchyard.testing.jobs import MemoryJobIntake, MemoryJobStore
from switchyard.testing.leases import MemoryTaskLeases
from switchyard.testing.limits import MemoryOpenTasks, MemoryRequestRates
from switchyard.testing.overdue import MemoryOverdue, MemoryUnsettled
from switchyard.testing.payloads import MemoryPayloads
from switchyard.testing.presence import MemoryDeployments, MemoryPauseSwitch, MemoryPresence
from switchyard.testing.redrives import MemoryRedriving
from switchyard.testing.registry import MemoryApiKeys, MemoryDefinitionStore
from switchyard.testing.scheduling import (
    MemoryReadyIndex,
    MemoryStartLimits,
    MemoryTenantClocks,
)
from switchyard.testing.signals import MemorySignalSubscriptions
from switchyard.testing.state import MemoryState
from switchyard.testing.submission_keys import MemorySubmissionKeys
from switchyard.testing.tenants import MemoryTenantStore
from switchyard.testing.transport import (
    MemoryBlobStore,
    MemoryBus,
    MemoryDispatchQueue,
    MemoryEventLog,
    MemoryLinks,
    MemoryTaskQueue,
)
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.signals.subscribe import SignalSubscriber


class MemoryHarness:
    def __init__(self, clock: Clock) -> None:
        self.state = MemoryState()
        self.intake = MemoryJobIntake(self.state)
        self.jobs = MemoryJobStore(self.state)
        self.leases = MemoryTaskLeases(self.state)
        self.adoption = MemoryTaskAdoption(self.state)
        self.additions = MemoryTaskAdditions(self.state)
        self.graph = MemoryTaskGraph(self.state)
        self.ready = MemoryReadyIndex(self.state)
        self.clocks = MemoryTenantClocks()
        self.limits = MemoryStartLimits(self.state)
        self.overdue = MemoryOverdue(self.state)
        self.unsettled = MemoryUnsettled(self.state)
        self.payloads = MemoryPayloads(self.state)
        self.cancelling = MemoryCancelling(self.state)
        self.redriving = MemoryRedriving(self.state)
        self.subscriptions = MemorySignalSubscriptions()
        self.definitions = MemoryDefinitionStore()
        self.keys = MemoryApiKeys()
        self.tenants = MemoryTenantStore()
        self.open_tasks = MemoryOpenTasks()
        self.rates = MemoryRequestRates()
        self.pause_switch = MemoryPauseSwitch()
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
        self.fan_outs = MemoryFanOuts(self.state, self.blobs)
        self.reader = MemoryEventReader(self.log, EventOverflow(self.blobs, "bucket"))

    def subscriber(self, emitter: Emitter, clock: Clock) -> SignalSubscriber:
        return SignalSubscriber(
            subscriptions=self.subscriptions,
            payloads=self.payloads,
            leases=self.leases,
            emitter=emitter,
            clock=clock,
        )
