"""A cloud whose tables and buckets are made when they are first asked for: most tests need one."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

from tests.contract.clouds import Cloud


def made_on_demand(cloud: Cloud) -> Cloud:
    return replace(cloud, client=cache(lambda service: OnDemand(cloud.client(service))))


class OnDemand:
    def __init__(self, client: Any) -> None:
        self._client = client
        self._to_make: dict[str, Callable[[], object]] = {}
        self._making = threading.Lock()

    def create_table(self, **request: Any) -> None:
        self._to_make[request["TableName"]] = partial(self._client.create_table, **request)

    def create_bucket(self, **request: Any) -> None:
        self._to_make[request["Bucket"]] = partial(self._client.create_bucket, **request)

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._client, name)
        if self._to_make and callable(operation):
            return partial(self._request, operation)
        return operation

    def _request(self, operation: Callable[..., Any], *given: Any, **request: Any) -> Any:
        with self._making:
            for place in _places_in(request):
                self._to_make.pop(place, _nothing)()
        return operation(*given, **request)


def _places_in(request: dict[str, Any]) -> Iterator[str]:
    yield from (request[name] for name in ("TableName", "Bucket") if name in request)
    yield from request.get("RequestItems", ())
    for entry in request.get("TransactItems", ()):
        yield from (part["TableName"] for part in entry.values())
    if "Params" in request:  # of a link
        yield from _places_in(request["Params"])


def _nothing() -> None:
    """It is there already."""
