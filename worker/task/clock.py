"""The child's own clock: no port reaches into it, and `switchyard.adapters` is too heavy for it."""

from time import monotonic, sleep  # noqa: TID251 - this is the child's adapter

__all__ = ["elapsed_ms", "monotonic", "sleep"]


def elapsed_ms(since: float) -> int:
    return round((monotonic() - since) * 1000)
