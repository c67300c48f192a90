"""The requests that webhooks receive: their body, their id and their signature."""

import hashlib
import hmac
import uuid
from datetime import datetime
from typing import Final, Literal, Self

from pydantic import Field

from switchyard.contracts.wire import Written, instant
from switchyard.domain.alerts.incidents import Incident, Section
from switchyard.domain.text import plain_text

SCHEMA_VERSION: Final = 1
SIGNATURE_HEADER: Final = "Switchyard-Signature"
ID_HEADER: Final = "Switchyard-Id"
_NAMESPACE: Final = uuid.UUID("5d6b8a0e-3b0f-5c53-9a52-6a1f0b7c5f10")


class WebhookJob(Written):
    tenant_id: str
    job_id: str


class WebhookFact(Written):
    name: str
    value: str


class WebhookSection(Written):
    title: str
    facts: tuple[WebhookFact, ...]
    text: str
    commands: tuple[str, ...]

    @classmethod
    def of(cls, section: Section) -> Self:
        return cls(
            title=plain_text(section.title),
            facts=tuple(
                WebhookFact(name=plain_text(name), value=plain_text(value))
                for name, value in section.facts
            ),
            text=plain_text(section.text),
            commands=tuple(map(plain_text, section.commands)),
        )


class WebhookIncident(Written):
    subject: str
    severity: str
    open: bool
    title: str
    news: str
    sections: tuple[WebhookSection, ...]


class WebhookMessage(Written):
    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, alias="schema")
    id: str
    """The same for each attempt to deliver one state, so that a receiver can drop repetitions."""
    type: Literal["incident.open", "incident.over", "job.completed"]
    job: WebhookJob | None
    incident: WebhookIncident
    at: datetime
    """The time at which the message was sent."""

    @classmethod
    def of(cls, incident: Incident, *, now_ms: int, seen_open: bool = True) -> Self:
        """`seen_open` is whether the receiver may know of an open incident."""
        announced = incident.announced and not seen_open
        over = "job.completed" if announced else "incident.over"
        job = incident.subject.job
        return cls(
            id=delivery_id(str(incident.subject), incident.name),
            type="incident.open" if incident.open else over,
            job=WebhookJob(tenant_id=job.tenant, job_id=job.job_id) if job else None,
            incident=WebhookIncident(
                subject=str(incident.subject),
                severity=incident.severity.value,
                open=incident.open,
                title=plain_text(incident.title),
                news=plain_text(incident.news),
                sections=tuple(map(WebhookSection.of, incident.sections)),
            ),
            at=instant(now_ms),
        )

    def body(self) -> bytes:
        return self.model_dump_json(by_alias=True).encode()


def signed_headers(
    message: WebhookMessage, body: bytes, *, stage_secret: str, at_seconds: int
) -> dict[str, str]:
    """The headers of a request, with a signature that is made with the tenant's secret."""
    tenant = message.job.tenant_id if message.job else ""
    return {
        "Content-Type": "application/json",
        "User-Agent": "switchyard",
        ID_HEADER: message.id,
        SIGNATURE_HEADER: signature_header(
            tenant_secret(stage_secret, tenant), body, at_seconds=at_seconds
        ),
    }


def signature_header(secret: str, body: bytes, *, at_seconds: int) -> str:
    """The value of `Switchyard-Signature`: it covers the time and the body."""
    signed = f"{at_seconds}.".encode() + body
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return f"t={at_seconds},v1={digest}"


def tenant_secret(stage_secret: str, tenant: str) -> str:
    """Derive a tenant's secret, so that no tenant can sign for another."""
    return hmac.new(stage_secret.encode(), tenant.encode(), hashlib.sha256).hexdigest()


def delivery_id(subject: str, state: str) -> str:
    """The same id for each attempt to deliver one state of a subject."""
    return str(uuid.uuid5(_NAMESPACE, f"{subject}\n{state}"))
