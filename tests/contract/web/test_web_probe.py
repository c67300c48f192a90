"""What asks a URL: over HTTP, and in memory."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from switchyard.adapters.webhooks import HttpWebProbe
from switchyard.domain.errors import Unavailable
from switchyard.ports.web import WebProbe
from switchyard.testing.transport import MemoryWebProbe


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(int(self.path[1:]))
        self.send_header("Location", "/200")
        self.end_headers()

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Print nothing."""


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def in_memory(place: str) -> WebProbe:
    probe = MemoryWebProbe()
    probe.statuses = {f"{place}/{status}": status for status in (200, 302, 404, 500)}
    return probe


def over_http(_place: str) -> WebProbe:
    return HttpWebProbe(nearby_allowed=True)


@pytest.fixture(params=[in_memory, over_http])
def probe(request: pytest.FixtureRequest, place: str) -> WebProbe:
    made: Callable[[str], WebProbe] = request.param
    return made(place)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("status", [200, 302, 404, 500])
def test_the_status_of_the_first_answer_is_returned(
    probe: WebProbe, place: str, method: str, status: int
) -> None:
    assert probe.status(f"{place}/{status}", method=method, seconds=5) == status


def test_what_cannot_be_reached_is_unavailable(probe: WebProbe) -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        probe.status("http://127.0.0.1:9/", method="GET", seconds=5)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://10.0.0.1/", "is private"),
        ("https://100.64.0.1/", "shared by a carrier"),
        ("https://169.254.170.2/", "link-local"),
        ("http://example.com/", "must begin with https"),
        ("https://example.com:8080/", "another port than 443"),
    ],
)
def test_a_stage_reaches_public_addresses_only(url: str, said: str) -> None:
    probe = HttpWebProbe(nearby_allowed=False)
    with pytest.raises(Unavailable, match=f"nothing was sent: .*{said}"):
        probe.status(url, method="GET", seconds=5)


def test_a_name_that_leads_to_a_private_address_is_refused() -> None:
    probe = HttpWebProbe(nearby_allowed=False, resolve=lambda _host, _port: ["192.168.1.1"])
    with pytest.raises(Unavailable, match=r"192\.168\.1\.1 is private"):
        probe.status("https://example.com/", method="GET", seconds=5)
