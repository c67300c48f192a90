"""Escalation of a job's failures, on in-memory twins."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from switchyard.domain.alerts.alerts import PublishResult, subject_in_key
from switchyard.domain.alerts.incidents import Incident, Section, Severity
from switchyard.domain.alerts.subjects import JobSubject
from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.testing import ManualClock
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.testing.chat import MemoryChat, MemoryConnector
from switchyard.testing.tenants import MemoryTenantStore
from switchyard.usecases.alerts.escalate import Escalator
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from tests.builders import JOB, TENANT

URL = "https://hooks.example/in?token=t0ps3cret"
WEBHOOK = NotifyTarget(webhook=URL)
SUBJECT = JobSubject(JOB)
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


class EscalationHarness:
    def __init__(self) -> None:
        self.clock, self.store, self.chat = ManualClock(), MemoryAlertStore(), MemoryChat()
        self.hook, self.secrets = Hook(self.clock), HeldSecret()
        self.results: list[PublishResult] = []
        self.tenants = MemoryTenantStore()
        self.tenants.change(TENANT, slack_channels=("#brand", "#ops", "C0000OPS01"))
        chats = MemoryConnector(self.chat)
        self.alerts = AlertPublisher(
            store=self.store, chats=chats, channel="#ops", clock=self.clock
        )
        self.escalator = Escalator(
            alerts=self.alerts,
            tenants=self.tenants,
            store=self.store,
            webhooks=self.hook,
            secrets=self.secrets,
            secret_name="switchyard/test/webhooks",
            log=lambda _, result: self.results.append(result),
            clock=self.clock,
        )

    def escalate(
        self, incident: Incident = FAILED, notify: NotifyTarget | None = WEBHOOK
    ) -> PublishResult:
        self.escalator.escalate(notify, incident, tenant=TENANT)
        return self.results[-1]

    def due(self) -> list[str]:
        return [subject_in_key(key) for key in self.store.due(now_ms=self.clock.now_ms(), limit=9)]

    def sweep(self, incident: Incident = FAILED) -> None:
        """Check due alerts again a minute later, as the sweeper has it done."""
        self.clock.advance(MINUTE)
        for subject in self.due():
            assert subject == str(SUBJECT)
            self.escalate(incident)
