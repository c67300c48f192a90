"""Stores alerts in memory."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from switchyard.domain.alerts.alerts import Alert


class MemoryAlertStore:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alerts: dict[str, Alert] = {}

    def find(self, key: str) -> Alert | None:
        return self._alerts.get(key)

    def lease(self, known: Alert, *, now_ms: int) -> Alert | None:
        with self._lock:
            there = self._alerts.get(known.key)
            if (there.fence if there else 0) != known.fence:
                return None
            self._alerts[known.key] = known.leased(now_ms=now_ms)
            return self._alerts[known.key]

    def save(self, alert: Alert) -> bool:
        with self._lock:
            there = self._alerts.get(alert.key)
            if there is None or there.fence != alert.fence:
                return False
            if there.asks != alert.asks:
                alert = replace(alert, asks=there.asks, due_at_ms=there.due_at_ms)
            self._alerts[alert.key] = alert
            return True

    def request_update(self, key: str, *, now_ms: int) -> None:
        with self._lock:
            there = self._alerts.get(key)
            if there:
                self._alerts[key] = replace(there, asks=there.asks + 1, due_at_ms=now_ms)

    def due(self, *, now_ms: int, limit: int) -> Sequence[str]:
        due = [
            (alert.due_at_ms, key)
            for key, alert in self._alerts.items()
            if alert.due_at_ms is not None and alert.due_at_ms <= now_ms
        ]
        return [key for _, key in sorted(due)[:limit]]
