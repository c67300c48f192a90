"""Traces as OpenTelemetry's protocol has them in JSON, and what a collector answers."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from switchyard.contracts.wire import Written
from switchyard.domain.measuring.spans import Span
from switchyard.domain.text import without_control_characters

TRACES_PATH: Final = "/v1/traces"
_NANOSECONDS: Final = 1_000_000  # in a millisecond
_INTERNAL: Final = 1


class AnyValue(Written):
    string_value: str | None = None
    int_value: str | None = None
    """A text: JSON's numbers do not have 64 bits."""
    double_value: float | None = None

    @classmethod
    def of(cls, value: str | float) -> "AnyValue":
        match value:
            case str():
                return cls(string_value=value)
            case int():
                return cls(int_value=str(value))
            case float():
                return cls(double_value=value)


class KeyValue(Written):
    key: str
    value: AnyValue


class Status(Written):
    code: int
    message: str | None = None


class WireSpan(Written):
    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str
    kind: int = _INTERNAL
    start_time_unix_nano: str
    end_time_unix_nano: str
    attributes: tuple[KeyValue, ...]
    status: Status

    @classmethod
    def of(cls, span: Span) -> "WireSpan":
        return cls(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_span_id=span.parent_span_id,
            name=span.name,
            start_time_unix_nano=str(span.lasted.start_ms * _NANOSECONDS),
            end_time_unix_nano=str(span.lasted.end_ms * _NANOSECONDS),
            attributes=_attributes(span.attributes),
            status=Status(code=span.ending.status, message=span.ending.message or None),
        )


class Scope(Written):
    name: str = "switchyard"


class ScopeSpans(Written):
    scope: Scope = Scope()
    spans: tuple[WireSpan, ...]


class Resource(Written):
    attributes: tuple[KeyValue, ...]


class ResourceSpans(Written):
    resource: Resource
    scope_spans: tuple[ScopeSpans, ...]


class TraceRequest(Written):
    resource_spans: tuple[ResourceSpans, ...]

    @classmethod
    def of(cls, spans: Sequence[Span], *, stage: str) -> "TraceRequest":
        about = {"service.name": "switchyard", "deployment.environment.name": stage}
        emitted = ScopeSpans(spans=tuple(map(WireSpan.of, spans)))
        resource = Resource(attributes=_attributes(about))
        return cls(resource_spans=(ResourceSpans(resource=resource, scope_spans=(emitted,)),))

    def body(self) -> bytes:
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


class _Answered(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class _PartialSuccess(_Answered):
    rejected_spans: int = 0
    error_message: str = ""


class _TraceResponse(_Answered):
    partial_success: _PartialSuccess = Field(default=_PartialSuccess())


def refused_in(answer: bytes) -> str | None:
    """Return what a collector that accepted the request reports about spans that it refused."""
    try:
        partial = _TraceResponse.model_validate_json(answer or b"{}").partial_success
    except ValidationError:  # it took them, whatever it said then
        return None
    if not partial.rejected_spans:
        return None
    said = without_control_characters(partial.error_message)
    return f"{partial.rejected_spans} spans were refused: {said}"


def headers_in(text: str) -> dict[str, str]:
    """`name=value,…`, as `OTEL_EXPORTER_OTLP_HEADERS` has them; what is no header is left out."""
    pairs = (part.partition("=") for part in text.split(","))
    named = {name.strip(): unquote(value).strip() for name, separator, value in pairs if separator}
    return {name: value for name, value in named.items() if _is_header(name, value)}


def _is_header(name: str, value: str) -> bool:
    return bool(name) and (name + value).isascii() and (name + value).isprintable()


def _attributes(known: Mapping[str, str | int | float]) -> tuple[KeyValue, ...]:
    return tuple(KeyValue(key=name, value=AnyValue.of(value)) for name, value in known.items())
