"""In-memory twins of every adapter, under the same contract tests."""

from switchyard.testing.clock import ManualClock
from switchyard.testing.harness import MemoryHarness

__all__ = ["ManualClock", "MemoryHarness"]
