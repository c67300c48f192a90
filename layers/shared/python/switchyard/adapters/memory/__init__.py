"""In-memory twins of every adapter, under the same contract tests."""

from switchyard.adapters.memory.clock import ManualClock
from switchyard.adapters.memory.yard import MemoryYard

__all__ = ["ManualClock", "MemoryYard"]
