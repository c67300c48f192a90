"""Sends spans to an OpenTelemetry collector, over HTTP and as JSON."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Final

import urllib3
from urllib3.exceptions import HTTPError

from switchyard.contracts.otlp import TRACES_PATH, TraceRequest, refused_in
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.spans import Span

SECONDS: Final = 2.0  # events are saved by the same function
MAX_ANSWER_BYTES: Final = 64 * 1024

Headers = Callable[[], Mapping[str, str]]


class OtlpSpanExporter:
    """Exports spans without retries and redirects; its headers, which hold keys, stay secret."""

    def __init__(
        self, endpoint: str, *, headers: Headers, stage: str, seconds: float = SECONDS
    ) -> None:
        self._url = endpoint.rstrip("/") + TRACES_PATH
        self._headers = headers
        self._stage = stage
        self._pool = urllib3.PoolManager(timeout=urllib3.Timeout(total=seconds), retries=False)

    def export(self, spans: Sequence[Span]) -> None:
        request = TraceRequest.of(spans, stage=self._stage)
        headers = {**self._headers(), "Content-Type": "application/json"}
        try:
            answer = self._post(request.body(), headers)
        except (HTTPError, OSError, ValueError) as error:
            raise Unavailable(f"the collector cannot be reached: {type(error).__name__}") from error
        problem = refused_in(answer)
        if problem:
            raise Unavailable(problem)

    def _post(self, body: bytes, headers: Mapping[str, str]) -> bytes:
        response = self._pool.request(
            "POST", self._url, body=body, headers=headers, redirect=False, preload_content=False
        )
        try:
            if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
                raise Unavailable(f"the collector answered {response.status}")
            return response.read(MAX_ANSWER_BYTES)
        finally:
            response.close()
