"""Addresses that others name, where they want to be told."""

from collections.abc import Mapping
from typing import Protocol


class Webhooks(Protocol):
    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Once, and to no other place than the URL says: no redirect is followed.

        Raise `Unavailable` unless the answer is a success; it may have arrived all the same. What
        the error says is ours: nothing of the answer is in it.
        """
