"""Tells those whom a job names of its failures, beside those who operate the stage.

Of an incident that is going on, only what is critical: that others go on, or that somebody has
begun to mend it, is for the operators.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.contracts.webhooks import WebhookMessage
from switchyard.domain.alerts.alerts import (
    Alert,
    Leave,
    Tell,
    Wait,
    book_key,
    decide_telling,
    is_news,
    state_of,
)
from switchyard.domain.alerts.incident_rendering import escaped
from switchyard.domain.alerts.incidents import Incident, Severity
from switchyard.domain.alerts.webhook_signatures import (
    ID_HEADER,
    SIGNATURE_HEADER,
    secret_of_tenant,
    signature_header,
)
from switchyard.domain.alerts.webhook_tries import pause_after
from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.notify import Notify, hook_at
from switchyard.ports import Clock, TenantStore
from switchyard.ports.alerting import AlertBook, Mark, Secrets
from switchyard.ports.webhooks import Webhooks
from switchyard.usecases.alerts.tell_alone import Telling, Told, Turns
from switchyard.usecases.alerts.tell_incident import Teller
from switchyard.usecases.alerts.thread_notes import ThreadNotes

WEBHOOK: Final = "webhook"
"""Stands for a channel in the book: no channel is called like that."""
SLOW_SECONDS: Final = 3.0
REST_MS: Final = 30_000
"""After a slow one: a function that tells several would else be ended before it is done."""
NOT_FOR_OTHERS: Final = Told(Telling.UNCHANGED, "only the operators are told of this")


@dataclass(kw_only=True)
class Escalator:
    teller: Teller
    tenants: TenantStore
    book: AlertBook
    webhooks: Webhooks
    secrets: Secrets
    secret_name: str
    """Of what requests are signed with."""
    notes: ThreadNotes
    report: Callable[[Incident, Told], None]
    """Hears what became of each."""
    clock: Clock
    _rest_until_ms: int = field(default=0, init=False)

    @property
    def _turns(self) -> Turns:
        return Turns(self.book, self.clock)

    def escalate(self, notify: Notify | None, incident: Incident, *, tenant: str) -> None:
        """Never raises for their sake; `Unavailable` if the book does not answer."""
        if notify is not None:
            self.report(incident, self._escalated(notify, incident, tenant))

    def has_news(self, notify: Notify | None, incident: Incident, *, tenant: str) -> bool:
        """Whether to escalate it would do anything now."""
        if notify is None:
            return False
        theirs = _addressed(notify, incident)
        if _for_operators(incident) or not self._is_allowed(notify, tenant):
            known = self.book.find(book_key(theirs))
            return known is not None and known.due_at_ms is not None
        if notify.webhook is None:
            return self.teller.has_news(theirs)
        return is_news(self._decision(theirs))

    def _is_allowed(self, notify: Notify, tenant: str) -> bool:
        """Look again: the job may be older than the list, or the list may have changed."""
        if notify.channel is None:
            return True
        return self.tenants.find(tenant).allows_channel(notify.channel)

    def _escalated(self, notify: Notify, incident: Incident, tenant: str) -> Told:
        theirs = _addressed(notify, incident)
        if _for_operators(incident):
            self._set_aside(book_key(theirs))
            return NOT_FOR_OTHERS
        if not self._is_allowed(notify, tenant):
            self._set_aside(book_key(theirs))
            return Told(
                Telling.NOT_ALLOWED,
                f"{notify.channel} is not one of the channels that jobs of {tenant} may name",
            )
        if notify.webhook is not None:
            return self._to_webhook(notify.webhook, theirs)
        if self._is_the_stages(theirs):
            return Told(Telling.UNCHANGED, "the stage's channel was told")
        return self.teller.tell(theirs)

    def _is_the_stages(self, theirs: Incident) -> bool:
        """By its name, or by the id under which it was told."""
        if theirs.channel == self.teller.channel:
            return True
        stages = self.book.find(theirs.subject)
        return stages is not None and stages.channel == theirs.channel

    def _set_aside(self, key: str) -> None:
        """What was postponed is not true any more: nobody has to look at it again."""
        known, now_ms = self.book.find(key), self.clock.now_ms()
        if known is None or known.due_at_ms is None or known.lease_until_ms > now_ms:
            return
        taken = self.book.take(known, now_ms=now_ms)
        if taken is not None:
            self.book.save(taken.set_aside(unsure=known.unsure))

    def _decision(self, incident: Incident) -> Leave | Wait | Tell:
        known = self.book.find(book_key(incident))
        return decide_telling(
            incident, known and known.afresh(incident), now_ms=self.clock.now_ms()
        )

    def _to_webhook(self, url: str, incident: Incident) -> Told:
        decision = self._decision(incident)
        match decision:
            case Leave():
                return Told(Telling.UNCHANGED, decision.reason)
            case Wait():
                return self._turns.waited(book_key(incident), decision)
            case Tell():
                if _was_told(decision.known, incident):
                    return self._taken(decision, lambda it: self._as_it_was(it, incident))
                return self._if_there_is_a_secret(url, incident, decision)

    def _as_it_was(self, alert: Alert, incident: Incident) -> tuple[Alert, Told]:
        """Somebody asked while it was being told: there was nothing else to tell."""
        told = alert.told(incident, now_ms=self.clock.now_ms())
        return told, Told(Telling.UNCHANGED, "told already")

    def _if_there_is_a_secret(self, url: str, incident: Incident, decision: Tell) -> Told:
        try:
            secret = self.secrets.text(self.secret_name) if self.secret_name else None
        except Unavailable as error:
            reason = f"the secret cannot be read: {error}"
            return self._taken(decision, lambda it: self._later(it, incident, reason))
        if not secret:
            reason = f"no webhook is told without a signature: create the secret {self.secret_name}"
            return Told(Telling.NOT_CONFIGURED, reason)
        if self.clock.now_ms() < self._rest_until_ms:
            return self._taken(decision, self._rest)
        return self._taken(decision, lambda it: self._try(it, incident, url, secret))

    def _rest(self, alert: Alert) -> tuple[Alert, Told]:
        """No try, so it does not count as one."""
        now_ms = self.clock.now_ms()
        postponed = alert.postponed(now_ms=now_ms, wait_ms=REST_MS, unsure=False)
        first = alert.postponed_since_ms
        return (
            replace(postponed, postponed_since_ms=first),
            Told(Telling.POSTPONED, "another webhook was slow a moment ago"),
        )

    def _taken(self, decision: Tell, act: Callable[[Alert], tuple[Alert, Told]]) -> Told:
        _, told = self._turns.taken(decision.known, act)
        return told

    def _try(self, alert: Alert, incident: Incident, url: str, secret: str) -> tuple[Alert, Told]:
        now_ms = self.clock.now_ms()
        message = WebhookMessage.of(incident, now_ms=now_ms)
        body = message.body()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "switchyard",
            ID_HEADER: message.id,
            SIGNATURE_HEADER: signature_header(
                secret_of_tenant(secret.strip(), _tenant_in(message)),
                body,
                at_seconds=now_ms // 1000,
            ),
        }
        try:
            self._post(url, body, headers)
        except Unavailable as error:
            return self._later(alert, incident, f"{hook_at(url).host}: {error}")
        told = alert.told(incident, now_ms=self.clock.now_ms())
        return told, Told(Telling.POSTED if incident.open else Telling.RECOVERED)

    def _post(self, url: str, body: bytes, headers: dict[str, str]) -> None:
        began = self.clock.monotonic()
        try:
            self.webhooks.post(url, body, headers)
        finally:
            if self.clock.monotonic() - began > SLOW_SECONDS:
                self._rest_until_ms = self.clock.now_ms() + REST_MS

    def _later(self, alert: Alert, incident: Incident, reason: str) -> tuple[Alert, Told]:
        now_ms = self.clock.now_ms()
        since = now_ms if alert.postponed_since_ms is None else alert.postponed_since_ms
        pause = pause_after(now_ms - since)
        if pause is None:
            self._tell_operators(incident, reason)
            return alert.told(incident, now_ms=now_ms), Told(Telling.GIVEN_UP, reason)
        postponed = alert.postponed(now_ms=now_ms, wait_ms=pause, unsure=False)
        return replace(postponed, tried=state_of(incident)), Told(Telling.POSTPONED, reason)

    def _tell_operators(self, incident: Incident, reason: str) -> None:
        thread = self.notes.thread_of(incident.subject)
        if thread:
            said = f"The job's webhook was given up after five tries: {escaped(reason, 300)}"
            mark = Mark(incident.subject, 0, f"given-up-{incident.fingerprint}")
            self.notes.add(thread, said, mark)


def _for_operators(incident: Incident) -> bool:
    return incident.open and incident.severity is not Severity.CRITICAL


def _addressed(notify: Notify, incident: Incident) -> Incident:
    return replace(incident, channel=notify.channel if notify.webhook is None else WEBHOOK)


def _tenant_in(message: WebhookMessage) -> str:
    return message.job.tenant_id if message.job else ""


def _was_told(known: Alert, incident: Incident) -> bool:
    state = (known.fingerprint, known.open)
    return not known.unsure and state == (incident.fingerprint, incident.open)
