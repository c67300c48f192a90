"""Whoever tells those whom a job names, on in-memory twins."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.alerts import MemoryAlertBook
from switchyard.adapters.memory.chat import MemoryChat, MemoryDoor
from switchyard.adapters.memory.tenants import MemoryTenantStore
from switchyard.domain.alerts.alerts import subject_in
from switchyard.domain.alerts.incidents import Incident, Section, Severity
from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.notify import Notify
from switchyard.usecases.alerts.escalate import Escalator
from switchyard.usecases.alerts.tell_alone import Told
from switchyard.usecases.alerts.tell_incident import Teller
from switchyard.usecases.alerts.thread_notes import ThreadNotes
from tests.builders import JOB, TENANT

URL = "https://hooks.example/in?token=t0ps3cret"
WEBHOOK = Notify(webhook=URL)
SUBJECT = f"job/{JOB.tenant}/{JOB.job_id}"
MINUTE, HOUR = 60, 3600
FAILED = Incident(
    subject=SUBJECT,
    severity=Severity.CRITICAL,
    open=True,
    title="A job failed: brand",
    sections=(
        Section(
            title="scrape\x1b[31m",
            facts=(("attempts", "3 of 3"),),
            text="<!channel> no such host",
            commands=("switchyard redrive",),
        ),
    ),
    fingerprint="failed/1",
    news="A job failed: brand (run 1)",
)
REDRIVEN = replace(FAILED, severity=Severity.WARNING, fingerprint="being redriven/2")
OVER = replace(
    FAILED, severity=Severity.WARNING, open=False, fingerprint="completed/2", title="It completed"
)


@dataclass
class Hook:
    clock: ManualClock
    down: str = ""
    takes_seconds: float = 0
    sent: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        assert url == URL
        self.sent.append((dict(headers), body))
        self.clock.advance(self.takes_seconds)
        if self.down:
            raise Unavailable(self.down)

    def said(self) -> list[Any]:
        return [json.loads(body) for _, body in self.sent]


@dataclass
class HeldSecret:
    secret: str | None = "whsec\n"

    def text(self, name: str) -> str | None:
        if self.secret == "down":
            raise Unavailable("Secrets Manager does not answer")
        return self.secret


class Office:
    def __init__(self) -> None:
        self.clock, self.book, self.chat = ManualClock(), MemoryAlertBook(), MemoryChat()
        self.hook, self.secrets = Hook(self.clock), HeldSecret()
        self.reported: list[Told] = []
        self.tenants = MemoryTenantStore()
        self.tenants.change(TENANT, slack_channels=("#brand", "#ops", "C0000OPS01"))
        door = MemoryDoor(self.chat)
        self.teller = Teller(book=self.book, door=door, channel="#ops", clock=self.clock)
        self.escalator = Escalator(
            teller=self.teller,
            tenants=self.tenants,
            book=self.book,
            webhooks=self.hook,
            secrets=self.secrets,
            secret_name="switchyard/test/webhooks",
            notes=ThreadNotes(book=self.book, door=door),
            report=lambda _, told: self.reported.append(told),
            clock=self.clock,
        )

    def tell(self, incident: Incident = FAILED, notify: Notify | None = WEBHOOK) -> Told:
        self.escalator.escalate(notify, incident, tenant=TENANT)
        return self.reported[-1]

    def due(self) -> list[str]:
        return [subject_in(key) for key in self.book.due(now_ms=self.clock.now_ms(), limit=9)]

    def sweep(self, incident: Incident = FAILED) -> None:
        """As the sweeper does it, a minute later."""
        self.clock.advance(MINUTE)
        for subject in self.due():
            assert subject == SUBJECT
            self.tell(incident)
