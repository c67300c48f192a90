"""What a webhook is sent."""

from datetime import datetime
from typing import Final, Literal, Self

from pydantic import Field

from switchyard.contracts.jobs import instant
from switchyard.contracts.wire import Written
from switchyard.domain.alerts.alerts import state_of
from switchyard.domain.alerts.incident_rendering import plain
from switchyard.domain.alerts.incidents import Incident, Section
from switchyard.domain.alerts.told_jobs import job_in
from switchyard.domain.alerts.webhook_signatures import delivery_id

SCHEMA_VERSION: Final = 1


class ToldJob(Written):
    tenant_id: str
    job_id: str


class ToldFact(Written):
    name: str
    value: str


class ToldSection(Written):
    title: str
    facts: tuple[ToldFact, ...]
    text: str
    commands: tuple[str, ...]

    @classmethod
    def of(cls, section: Section) -> Self:
        return cls(
            title=plain(section.title),
            facts=tuple(ToldFact(name=plain(n), value=plain(v)) for n, v in section.facts),
            text=plain(section.text),
            commands=tuple(map(plain, section.commands)),
        )


class ToldIncident(Written):
    subject: str
    severity: str
    open: bool
    title: str
    news: str
    sections: tuple[ToldSection, ...]


class WebhookMessage(Written):
    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, alias="schema")
    id: str
    """The same for each try: what was seen before says nothing new."""
    type: Literal["incident.open", "incident.over"]
    job: ToldJob | None
    incident: ToldIncident
    at: datetime
    """When it was sent."""

    @classmethod
    def of(cls, incident: Incident, *, now_ms: int) -> Self:
        ref = job_in(incident.subject)
        return cls(
            id=delivery_id(incident.subject, state_of(incident)),
            type="incident.open" if incident.open else "incident.over",
            job=ToldJob(tenant_id=ref.tenant, job_id=ref.job_id) if ref else None,
            incident=ToldIncident(
                subject=incident.subject,
                severity=incident.severity.value,
                open=incident.open,
                title=plain(incident.title),
                news=plain(incident.news),
                sections=tuple(map(ToldSection.of, incident.sections)),
            ),
            at=instant(now_ms),
        )

    def body(self) -> bytes:
        return self.model_dump_json(by_alias=True).encode()
