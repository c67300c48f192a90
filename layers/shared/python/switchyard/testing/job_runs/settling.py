"""Settles tasks of a job in one process as a worker does."""

from switchyard.testing.job_runs.engine import MemoryEngine
from switchyard.usecases.scheduling.marks import Marks
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.receive.refused_claims import RefusedClaims
from switchyard_worker.parent.receive.settlement import Settlement


def refusals_of(runtime: Runtime, engine: MemoryEngine) -> RefusedClaims:
    """Return what handles refused claims, with the settlement that it uses."""
    memory = engine.memory
    settlement = Settlement(
        runtime,
        memory.leases,
        memory.queue,
        engine.emitter,
        memory.limits,
        Marks(memory.clocks, engine.clock),
    )
    return RefusedClaims(
        runtime=runtime,
        settlement=settlement,
        payloads=memory.payloads,
        index=memory.ready,
        limits=memory.limits,
        own_queue=memory.queue,
    )
