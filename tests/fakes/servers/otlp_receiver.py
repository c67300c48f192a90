"""An OpenTelemetry collector on loopback: records requests, and is strict about their form."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.fakes.servers.webhook_server import Answer, WebhookServer, a_webhook

_VALUES: dict[str, type] = {"stringValue": str, "intValue": str, "doubleValue": float}
_SPAN = {
    "traceId",
    "spanId",
    "parentSpanId",
    "name",
    "kind",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "attributes",
    "status",
}


@dataclass
class OtlpReceiver:
    server: WebhookServer

    @property
    def endpoint(self) -> str:
        return self.server.url(path="")

    @property
    def headers(self) -> list[dict[str, str]]:
        return [
            {name.lower(): value for name, value in arrived.headers.items()}
            for arrived in self.server.arrived
        ]

    def spans(self) -> list[dict[str, Any]]:
        """All that arrived, with plain attributes."""
        found = []
        for arrived in self.server.arrived:
            assert arrived.path == "/v1/traces"
            for resource in json.loads(arrived.body)["resourceSpans"]:
                about = _plain(resource["resource"]["attributes"])
                for scope in resource["scopeSpans"]:
                    assert scope["scope"]["name"] == "switchyard"
                    found += [_checked(span) | {"resource": about} for span in scope["spans"]]
        return found


@contextmanager
def an_otlp_receiver(*answers: Answer) -> Iterator[OtlpReceiver]:
    with a_webhook(*answers or (saying({}),)) as server:
        yield OtlpReceiver(server)


def saying(answer: Any) -> Answer:
    body = json.dumps(answer).encode()

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def _checked(span: dict[str, Any]) -> dict[str, Any]:
    assert span.keys() <= _SPAN
    assert (len(bytes.fromhex(span["traceId"])), len(bytes.fromhex(span["spanId"]))) == (16, 8)
    assert len(bytes.fromhex(span.get("parentSpanId", "0" * 16))) == 8
    begun, ended = span["startTimeUnixNano"], span["endTimeUnixNano"]
    assert isinstance(begun, str)
    assert isinstance(ended, str)
    assert int(begun) <= int(ended)
    assert span["kind"] in range(1, 6)
    assert span["status"]["code"] in range(3)
    return span | {"attributes": _plain(span["attributes"])}


def _plain(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for attribute in attributes:
        [(kind, value)] = attribute["value"].items()
        assert isinstance(value, _VALUES[kind])
        plain[attribute["key"]] = int(str(value)) if kind == "intValue" else value
    return plain
