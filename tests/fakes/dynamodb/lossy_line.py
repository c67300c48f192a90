"""A line to DynamoDB on which requests and answers get lost."""

from collections.abc import Callable
from functools import partial
from typing import Any

from botocore.exceptions import ClientError, ReadTimeoutError

WRITES = ("update_item", "transact_write_items")
READ = "get_item"

Perform = Callable[[], Any]
Fate = Callable[[Perform], Any]
"""What becomes of a request, given how to perform it."""


class Line:
    """A client whose next requests meet their fates."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.write_fate: Fate | None = None
        self.read_fate: Fate | None = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = getattr(self._client, name)

        def request(**arguments: Any) -> Any:
            fate: Fate | None = None
            if name in WRITES:
                fate, self.write_fate = self.write_fate, None
            elif name == READ:
                fate, self.read_fate = self.read_fate, None
            perform = partial(operation, **arguments)
            return fate(perform) if fate else perform()

        return request


def not_sent(perform: Perform) -> Any:
    raise ReadTimeoutError(endpoint_url="http://127.0.0.1")


def throttled(perform: Perform) -> Any:
    raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow down"}}, READ)


def answer_lost(perform: Perform) -> Any:
    perform()
    return not_sent(perform)


def repeated(perform: Perform) -> Any:
    """What botocore does by itself when the first answer is lost."""
    perform()
    return perform()


def and_then(fate: Fate, meanwhile: Callable[[], object]) -> Fate:
    def both(perform: Perform) -> Any:
        try:
            return fate(perform)
        finally:
            meanwhile()

    return both
