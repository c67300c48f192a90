"""Publishes the failures of a job to the channel or the webhook that the job names.

Those readers get only what is critical, and the end of it. That other tasks of the job go on, or
that the job is being redriven, is for the operators of the stage.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from switchyard.contracts.webhooks import WebhookMessage, signed_headers
from switchyard.domain.alerts.alerts import (
    Alert,
    Decision,
    Publish,
    PublishResult,
    PublishStatus,
    Skip,
    Wait,
    alert_key,
    decide_publishing,
    needs_action,
    webhook_retry_pause,
)
from switchyard.domain.alerts.incidents import Incident, IncidentState, Severity
from switchyard.domain.alerts.job_incidents import is_success
from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.notify import NotifyTarget, hook_at
from switchyard.ports import Clock, TenantStore
from switchyard.ports.alerting import AlertStore, MessageKey, Note, Secrets, Webhooks
from switchyard.usecases.alerts.post_alerts import AlertLeases, AlertPublisher, Step

WEBHOOK: Final = "webhook"
"""Stands for the channel in the key of an alert; no channel has this name."""
SLOW_SECONDS: Final = 3.0
PAUSE_MS: Final = 30_000
"""The pause after a slow webhook; else a function with several could reach its timeout."""
MAX_REASON: Final = 300
FOR_OPERATORS: Final = PublishResult(
    PublishStatus.UNCHANGED, "only the operators are informed of this"
)

_State = TypeVar("_State", bound=IncidentState)


@dataclass(kw_only=True)
class Escalator:
    alerts: AlertPublisher
    tenants: TenantStore
    store: AlertStore
    webhooks: Webhooks
    secrets: Secrets
    secret_name: str
    """The name of the secret that requests are signed with."""
    log: Callable[[Incident, PublishResult], None]
    """Logs the result of each escalation."""
    clock: Clock
    _paused_until_ms: int = field(default=0, init=False)

    def escalate(self, notify: NotifyTarget | None, incident: Incident, *, tenant: str) -> None:
        """Raise `Unavailable` if the store does not answer; other failures are logged."""
        if notify is not None:
            self.log(incident, self._escalated(notify, incident, tenant))

    def needs_update(
        self, notify: NotifyTarget | None, state: IncidentState, *, tenant: str
    ) -> bool:
        """Whether escalating this state would do anything now."""
        if notify is None:
            return False
        addressed = _addressed(notify, state)
        if _is_for_operators(notify, state) or not self._is_allowed(notify, tenant):
            known = self.store.find(alert_key(addressed))
            return known is not None and known.due_at_ms is not None
        if notify.webhook is None:
            return self.alerts.needs_update(addressed)
        return needs_action(self._decision(addressed))

    def own_channel(self, notify: NotifyTarget | None, *, tenant: str) -> str | None:
        """Return the channel that a job names, if its tenant may name it."""
        allowed = notify is not None and self._is_allowed(notify, tenant)
        return notify.channel if notify is not None and allowed else None

    def _is_allowed(self, notify: NotifyTarget, tenant: str) -> bool:
        """Check again: the list of channels may have changed since the job was submitted."""
        if notify.channel is None:
            return True
        return self.tenants.find(tenant).allows_channel(notify.channel)

    def _escalated(self, notify: NotifyTarget, incident: Incident, tenant: str) -> PublishResult:
        addressed = _addressed(notify, incident)
        if _is_for_operators(notify, incident):
            self._drop_postponed(alert_key(addressed))
            return FOR_OPERATORS
        if not self._is_allowed(notify, tenant):
            self._drop_postponed(alert_key(addressed))
            return PublishResult(
                PublishStatus.NOT_ALLOWED,
                f"{notify.channel} is not one of the channels that jobs of {tenant} may name",
            )
        if notify.webhook is not None:
            return self._to_webhook(notify.webhook, addressed)
        if self._is_stage_channel(addressed) and not addressed.announced:
            return PublishResult(PublishStatus.UNCHANGED, "it is posted in the stage's channel")
        return self.alerts.publish(addressed)

    def _is_stage_channel(self, addressed: Incident) -> bool:
        """Compare with the name of the stage's channel, and with the id it was posted under."""
        if addressed.channel == self.alerts.channel:
            return True
        posted = self.store.find(str(addressed.subject))
        return posted is not None and posted.channel == addressed.channel

    def _drop_postponed(self, key: str) -> None:
        """Keep a postponed update from being due: its state is not true any more."""
        known, now_ms = self.store.find(key), self.clock.now_ms()
        if known is None or known.due_at_ms is None or known.lease_until_ms > now_ms:
            return
        leased = self.store.lease(known, now_ms=now_ms)
        if leased is not None:
            self.store.save(leased.no_longer_due(unsure=known.unsure))

    def _decision(self, state: IncidentState) -> Decision:
        known = self.store.find(alert_key(state))
        return decide_publishing(
            state, known and known.retried_for(state), now_ms=self.clock.now_ms()
        )

    def _to_webhook(self, url: str, incident: Incident) -> PublishResult:
        decision = self._decision(incident)
        match decision:
            case Skip():
                return PublishResult(PublishStatus.UNCHANGED, decision.reason)
            case Wait():
                return AlertLeases(self.store, self.clock).wait(alert_key(incident), decision)
            case Publish():
                if _was_delivered(decision.known, incident):
                    return self._leased(decision, lambda alert: self._unchanged(alert, incident))
                return self._deliver(url, incident, decision)

    def _unchanged(self, alert: Alert, incident: Incident) -> tuple[Alert, PublishResult]:
        """An update was requested during the delivery, and there is no newer state."""
        published = alert.published(incident, now_ms=self.clock.now_ms())
        return published, PublishResult(PublishStatus.UNCHANGED, "delivered already")

    def _deliver(self, url: str, incident: Incident, decision: Publish) -> PublishResult:
        try:
            secret = self.secrets.text(self.secret_name) if self.secret_name else None
        except Unavailable as error:
            reason = f"the secret cannot be read: {error}"
            return self._leased(decision, lambda alert: self._failed(alert, incident, reason))
        if not secret:
            reason = f"webhooks are not called unsigned: create the secret {self.secret_name}"
            return PublishResult(PublishStatus.NOT_CONFIGURED, reason)
        if self.clock.now_ms() < self._paused_until_ms:
            return self._leased(decision, self._paused)
        return self._leased(decision, lambda alert: self._send(alert, incident, url, secret))

    def _paused(self, alert: Alert) -> tuple[Alert, PublishResult]:
        """Postpone the delivery without counting an attempt."""
        now_ms = self.clock.now_ms()
        postponed = alert.postponed(now_ms=now_ms, wait_ms=PAUSE_MS, unsure=False)
        return (
            replace(postponed, postponed_since_ms=alert.postponed_since_ms),
            PublishResult(PublishStatus.POSTPONED, "another webhook was slow a moment ago"),
        )

    def _leased(self, decision: Publish, step: Step) -> PublishResult:
        _, result = AlertLeases(self.store, self.clock).publish(decision.known, step)
        return result

    def _send(
        self, alert: Alert, incident: Incident, url: str, secret: str
    ) -> tuple[Alert, PublishResult]:
        now_ms = self.clock.now_ms()
        message = WebhookMessage.of(incident, now_ms=now_ms, seen_open=alert.open)
        body = message.body()
        headers = signed_headers(
            message, body, stage_secret=secret.strip(), at_seconds=now_ms // 1000
        )
        try:
            self._post(url, body, headers)
        except Unavailable as error:
            return self._failed(alert, incident, f"{hook_at(url).host}: {error}")
        published = alert.published(incident, now_ms=self.clock.now_ms())
        status = PublishStatus.POSTED if incident.open else PublishStatus.RECOVERED
        return published, PublishResult(status)

    def _post(self, url: str, body: bytes, headers: dict[str, str]) -> None:
        began = self.clock.monotonic()
        try:
            self.webhooks.post(url, body, headers)
        finally:
            if self.clock.monotonic() - began > SLOW_SECONDS:
                self._paused_until_ms = self.clock.now_ms() + PAUSE_MS

    def _failed(self, alert: Alert, incident: Incident, reason: str) -> tuple[Alert, PublishResult]:
        now_ms = self.clock.now_ms()
        since = now_ms if alert.postponed_since_ms is None else alert.postponed_since_ms
        pause = webhook_retry_pause(now_ms - since)
        if pause is None:
            self._post_note(incident, reason)
            published = alert.published(incident, now_ms=now_ms)
            return published, PublishResult(PublishStatus.GIVEN_UP, reason)
        postponed = alert.postponed(now_ms=now_ms, wait_ms=pause, unsure=False)
        return (
            replace(postponed, tried=incident.name),
            PublishResult(PublishStatus.POSTPONED, reason),
        )

    def _post_note(self, incident: Incident, reason: str) -> None:
        """Inform the operators, in the thread of the stage's alert, that the webhook failed."""
        main = self.alerts.main_message(incident.subject)
        if main:
            text = f"The job's webhook was given up after five tries: {reason[:MAX_REASON]}"
            key = MessageKey(incident.subject, 0, f"given-up-{incident.fingerprint}")
            self.alerts.post_note(main, Note(text), key)


def _is_for_operators(notify: NotifyTarget, state: IncidentState) -> bool:
    return state.open and not (notify.failures and state.severity is Severity.CRITICAL)


def _addressed(notify: NotifyTarget, state: _State) -> _State:
    """Address it to the job's readers, to whom a success is announced if they asked for it."""
    announced = notify.successes and not state.open and is_success(state)
    channel = notify.channel if notify.webhook is None else WEBHOOK
    return replace(state, channel=channel, announced=announced)


def _was_delivered(known: Alert, incident: Incident) -> bool:
    state = (known.fingerprint, known.open)
    return not known.unsure and state == (incident.fingerprint, incident.open)
