"""A proxy in front of an API for a module's tests, and a task's access for each of them."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from switchyard_worker.parent.claude.link import ClaudeAccess
from tests.fakes.servers.messages_api import MessagesApi, messages_api
from tests.fakes.servers.messages_api_replies import Reply, says
from tests.worker.proxied import QUESTION, Proxied, proxied

BODY = json.dumps(QUESTION).encode()


class Place:
    """An API, a proxy in front of it, and a task's access."""

    def __init__(self, api: MessagesApi, proxy: Proxied) -> None:
        self.api = api
        self.proxy = proxy
        self.access: ClaudeAccess = proxy.open()

    def answering(self, *replies: Reply) -> None:
        self.api.replies = replies


@pytest.fixture(scope="module")
def shared() -> Iterator[Place]:
    pytest.importorskip("h11")
    with ExitStack() as stack:
        api = stack.enter_context(messages_api())
        yield Place(api, stack.enter_context(proxied(api.url)))


@pytest.fixture
def place(shared: Place) -> Iterator[Place]:
    shared.access = shared.proxy.open()
    shared.api.replies = (says(),)
    shared.api.requests.clear()
    shared.api.heard.clear()
    yield shared
    shared.proxy.revoke(shared.access)


def request(place: Place, *lines: str, target: str = "/v1/messages", method: str = "POST") -> bytes:
    """A request's head with the right token, and whatever else."""
    head = [f"{method} {target} HTTP/1.1", f"x-api-key: {place.access.given.token}", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n"
