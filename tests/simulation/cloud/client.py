"""A node's boto3 client: every request travels, may be refused, and may lose its answer."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from tests.simulation.cloud.describing import described
from tests.simulation.kernel.node import Node
from tests.simulation.weather import Weather

SLOWEST_SECONDS: Final = 0.2
LONGEST_TIMEOUT_SECONDS: Final = 60.0
"""All tries of a client together."""
LATEST_SECONDS: Final = 30.0
ANSWERED_AGAIN: Final = 0.5
"""How often botocore's own second try gets an answer after the first one's was lost."""
LONGEST_FREEZE_SECONDS: Final = 120.0

Operation = Callable[..., Any]


@dataclass(slots=True)
class Sky:
    """The weather, which changes."""

    weather: Weather


class Client:
    def __init__(self, node: Node, service: Any, sky: Sky) -> None:
        self._node = node
        self._service = service
        self._sky = sky

    def __getattr__(self, name: str) -> Operation:
        operation: Operation = getattr(self._service, name)
        return lambda **request: self._observed(name, operation, request)

    def _observed(self, name: str, operation: Operation, request: dict[str, Any]) -> Any:
        """Pass the time of every answer to the node, as the hooks of a real client do."""
        node, dates, sent = self._node, list[int](), self._node.monotonic()

        def dated(**asked: Any) -> Any:
            dates.append(node.world.date_header())
            return operation(**asked)

        def note() -> None:
            if dates and node.aws_time:
                node.aws_time.note(sent=sent, received=node.monotonic(), date=dates[-1])

        try:
            answer = self._request(name, dated, request)
        except ClientError:
            note()
            raise
        note()
        return answer

    def _request(self, name: str, operation: Operation, request: dict[str, Any]) -> Any:
        world, weather = self._node.world, self._sky.weather
        self._travel()
        self._refuse_some(name, request)
        if name == "receive_message":
            self._wait_for_messages(request)
        if world.chance(weather.late):
            return self._be_late(name, operation, request)
        lost = world.chance(weather.answer_lost)
        try:
            answer = self._perform(name, operation, request)
        except ClientError:
            if not lost:
                raise
        else:
            if not lost:
                self._travel()
                return answer
        return self._lose_answer(name, operation, request)

    def _refuse_some(self, name: str, request: dict[str, Any]) -> None:
        node, world, weather = self._node, self._node.world, self._sky.weather
        service = type(self._service).__name__
        if service in node.cut_off:
            node.sleep(node.cut_off[service])
            world.report(node.name, f"{described(name, request)} ✗ cut off")
            raise EndpointConnectionError(endpoint_url="simulated")
        if world.chance(weather.throttled):
            world.report(node.name, f"{described(name, request)} ✗ throttled")
            raise _refusal("ThrottlingException", name)
        if name == "transact_write_items" and world.chance(weather.conflict):
            world.report(node.name, f"{described(name, request)} ✗ conflict")
            raise _refusal("TransactionCanceledException", name, "TransactionConflict")

    def _lose_answer(self, name: str, operation: Operation, request: dict[str, Any]) -> Any:
        self._node.world.report(self._node.name, f"{described(name, request)} … answer lost")
        self._node.sleep(self._timeout())
        return self._try_again(name, operation, request)

    def _try_again(self, name: str, operation: Operation, request: dict[str, Any]) -> Any:
        """Try again as botocore does by itself."""
        if not self._node.world.chance(ANSWERED_AGAIN):
            raise ReadTimeoutError(endpoint_url="simulated")
        answer = self._perform(name, operation, request)
        self._travel()
        return answer

    def _timeout(self) -> float:
        return self._node.world.dice.uniform(1.0, LONGEST_TIMEOUT_SECONDS)

    def _be_late(self, name: str, operation: Operation, request: dict[str, Any]) -> Any:
        """It takes effect after the caller gave up, or after it tried again with success."""
        world = self._node.world
        world.report(self._node.name, f"{described(name, request)} … late")
        timeout = self._timeout()
        late = timeout + world.dice.uniform(0, LATEST_SECONDS)
        world.after(late, self._perform_unheard, name, operation, request)
        self._node.sleep(timeout)
        return self._try_again(name, operation, request)

    def _perform_unheard(self, name: str, operation: Operation, request: dict[str, Any]) -> None:
        with contextlib.suppress(ClientError):
            self._perform(name, operation, request)

    def _perform(self, name: str, operation: Operation, request: dict[str, Any]) -> Any:
        world, node = self._node.world, self._node
        world.acting = node.name
        try:
            answer = operation(**request)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            world.report(node.name, f"{described(name, request)} ✗ {code}")
            raise
        world.report(node.name, described(name, request, answer))
        return answer

    def _travel(self) -> None:
        """A request or its answer is under way; meanwhile anything may happen to the node."""
        node, world = self._node, self._node.world
        node.sleep(world.dice.uniform(0.001, SLOWEST_SECONDS))
        node.meet_fate()
        if world.chance(self._sky.weather.killed):
            node.kill("by the weather")
        elif world.chance(self._sky.weather.frozen):
            node.freeze(world.dice.uniform(0, LONGEST_FREEZE_SECONDS))
        node.sleep(0)

    def _wait_for_messages(self, request: dict[str, Any]) -> None:
        queue = self._service.queue(request["QueueUrl"])
        if not queue.has_visible():
            self._node.wait_for(queue.when_visible, at_most=request["WaitTimeSeconds"])


def _refusal(code: str, name: str, reason: str | None = None) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": "simulated"}}
    if reason:
        response["CancellationReasons"] = [{"Code": reason}]
    return ClientError(response, name)
