"""What workers choose their tasks by, in memory."""

from switchyard.testing.scheduling.ready_index import MemoryReadyIndex
from switchyard.testing.scheduling.start_limits import MemoryStartLimits
from switchyard.testing.scheduling.tenant_clocks import MemoryTenantClocks

__all__ = ["MemoryReadyIndex", "MemoryStartLimits", "MemoryTenantClocks"]
"""What schedules tasks, in memory."""
