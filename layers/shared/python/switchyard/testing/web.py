"""URLs and their answers, in memory."""

from switchyard.domain.errors import Unavailable


class MemoryWebProbe:
    def __init__(self) -> None:
        self.statuses: dict[str, int] = {}
        """What each URL answers with; others cannot be reached."""
        self.asked: list[tuple[str, str]] = []

    def status(self, url: str, *, method: str, seconds: float) -> int:
        self.asked.append((method, url))
        if url not in self.statuses or seconds <= 0:
            raise Unavailable("it cannot be reached")
        return self.statuses[url]
