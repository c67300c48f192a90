"""Counts requests to AWS, what they write, and how often each item is written."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final

from switchyard.adapters.aws_services import Service
from tests.fakes.dynamodb.write_units import MeteredDynamoDb
from tests.simulation.cloud.table import Key

SERVICES: Final = ("dynamodb", "events", "s3", "sqs")
_FIRST_CHANGE: Final = re.compile(r"(\w+) #(\w+)")

Clients = Callable[[Service], Any]


class Phase(Enum):
    COUNTED = auto()
    """The job is taken in, written and dispatched."""
    ASIDE = auto()
    """The worker's claims and settlements, and what the benchmark itself needs."""


@dataclass
class Meter:
    on_call: Callable[[], None] = lambda: None
    calls: Counter[str] = field(default_factory=Counter)
    """The number of calls of each kind; the operation's name comes first."""
    units: Counter[str] = field(default_factory=Counter)
    writes: Counter[Key] = field(default_factory=Counter)
    """Counts by the item's key, for all writers together."""
    phase: Phase = Phase.ASIDE

    @contextmanager
    def counting(self) -> Iterator[None]:
        self.phase = Phase.COUNTED
        try:
            yield
        finally:
            self.phase = Phase.ASIDE

    def note(self, act: str, *, units: int = 0) -> None:
        if self.phase is Phase.COUNTED:
            self.calls[act] += 1
            self.units[act] += units
            self.on_call()

    def operations(self) -> Counter[str]:
        totals: Counter[str] = Counter()
        for act, calls in self.calls.items():
            totals[act.partition(" ")[0]] += calls
        return totals


class CountedClient:
    """A service in this process. Only what counts is weighed: that takes longer than the write."""

    def __init__(
        self, service: Any, meter: Meter, *, weighed: MeteredDynamoDb | None = None
    ) -> None:
        self._service = service
        self._meter = meter
        self._weighed = weighed

    def __getattr__(self, name: str) -> Any:
        return lambda **request: self._request(name, request)

    def _request(self, name: str, request: Mapping[str, Any]) -> Any:
        if self._weighed is None or self._meter.phase is Phase.ASIDE:
            self._meter.note(_act(name, request))
            return getattr(self._service, name)(**request)
        before = self._weighed.units
        try:
            return getattr(self._weighed, name)(**request)
        finally:
            self._meter.note(_act(name, request), units=self._weighed.units - before)


@contextmanager
def counted_by_botocore(clients: Clients, meter: Meter) -> Iterator[Clients]:
    """Return real clients that count; a request that one of them tries again was one call."""

    def note(model: Any, **_more: Any) -> None:
        meter.note(model.name)

    with ExitStack() as stack:
        for service in SERVICES:
            events = clients(service).meta.events
            events.register("before-call", note)
            stack.callback(events.unregister, "before-call", note)
        yield clients


def _act(name: str, request: Mapping[str, Any]) -> str:
    operation = "".join(word.capitalize() for word in name.split("_"))
    match name:
        case "update_item":
            return f"{operation} {_change(request)}"
        case "batch_get_item":
            ((_table, wanted),) = request["RequestItems"].items()
            return f"{operation} {wanted['Keys'][0]['SK']['S'].partition('#')[0]}"
    return operation


def _change(request: Mapping[str, Any]) -> str:
    """The first change that an update makes: to what, if that is a state."""
    found = _FIRST_CHANGE.match(request["UpdateExpression"])
    verb, attribute = found.groups() if found else ("", "")
    state = request.get("ExpressionAttributeValues", {}).get(":set_state", {"S": ""})["S"]
    return f"{verb} {attribute} {state}".rstrip()
