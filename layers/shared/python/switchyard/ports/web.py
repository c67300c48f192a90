"""Addresses on the web that a task has committed to."""

from typing import Protocol


class WebProbe(Protocol):
    def status(self, url: str, *, method: str, seconds: float) -> int:
        """Send one request without a body to exactly this URL; return the status of the answer.

        No redirect is followed, and the answer's body is not read. Raise `Unavailable` if nothing
        may be sent there, or no answer came in time; its text contains nothing of the answer.
        """
