"""The clock of the child process, in which `switchyard.adapters` would take too long to import."""

from time import monotonic, sleep  # noqa: TID251 - this is the child's adapter

__all__ = ["Deadline", "elapsed_ms", "monotonic", "sleep", "sleep_between"]


def elapsed_ms(since: float) -> int:
    return round((monotonic() - since) * 1000)


def sleep_between(shortest_ms: int, longest_ms: int) -> None:
    from random import uniform  # noqa: PLC0415, TID251 - as above, and rarely needed

    sleep(uniform(shortest_ms, longest_ms) / 1000)  # noqa: S311 - it is no secret


class Deadline:
    def __init__(self, milliseconds: int) -> None:
        self._began = monotonic()
        self._milliseconds = milliseconds

    @property
    def left_ms(self) -> int:
        return max(0, self._milliseconds - elapsed_ms(self._began))
