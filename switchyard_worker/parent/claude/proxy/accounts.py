"""Accounts for what each attempt may spend, has spent, and has reserved."""

import asyncio
import hashlib
import hmac
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from switchyard_worker.parent.claude.proxy.control import Register, Spent
from switchyard_worker.parent.claude.proxy.refusals import RequestRefused, too_many, unknown_token
from switchyard_worker.parent.claude.proxy.reported import Reported

MAX_PARALLEL: Final = 16
MAX_WAITING: Final = 64
MAX_HELD_BYTES: Final = 40 * 1024 * 1024
"""Bytes of an attempt's requests in memory at one time: room for one of the largest, and more."""
COST_DIGITS: Final = 9


@dataclass(slots=True, eq=False)
class Reservation:
    """The most that a request may cost, until its cost is known."""

    usd: float
    model: str
    tokens: int = 0


@dataclass(slots=True, eq=False)
class Account:
    """The account of one attempt. All calls are on one event loop, so none is interrupted."""

    allowed: Register
    deadline: float
    spent_usd: float = 0.0
    uncertain_usd: float = 0.0
    uncertain_tokens: int = 0
    reported: Reported = field(default_factory=Reported)
    stopped: str | None = None
    refusals: Counter[str] = field(default_factory=Counter)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, and replaced by another, whenever a reservation ends."""
    running: set["asyncio.Task[None]"] = field(default_factory=set)
    parallel: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_PARALLEL))
    held_bytes: int = 0
    dirty: bool = False
    _reserved: set[Reservation] = field(default_factory=set)

    @property
    def capped(self) -> bool:
        return self.allowed.cap_usd is not None

    @property
    def reserved_usd(self) -> float:
        return self.uncertain_usd + sum(one.usd for one in self._reserved)

    @property
    def room_usd(self) -> float:
        cap = self.allowed.cap_usd
        return float("inf") if cap is None else cap - self.spent_usd - self.reserved_usd

    @property
    def room_tokens(self) -> int | None:
        """Return how many tokens are neither used nor reserved; `None` without a budget."""
        cap, used = self.allowed.cap_tokens, self.reported.tokens
        if cap is None:
            return None
        reserved = self.uncertain_tokens + sum(one.tokens for one in self._reserved)
        return cap - used.read - used.output - reserved

    @property
    def others_are_under_way(self) -> bool:
        return bool(self._reserved)

    def reserve(self, usd: float, model: str, tokens: int = 0) -> Reservation:
        reservation = Reservation(usd, model, tokens)
        self._reserved.add(reservation)
        self.stopped = None
        return reservation

    def settle(self, reservation: Reservation, reported: Reported, *, complete: bool) -> None:
        """Record what was reported; the rest of an answer that broke off may be charged too."""
        self._reserved.discard(reservation)
        cost = reported.usd(reservation.model)
        self.spent_usd += cost
        self.reported += reported
        if not complete:
            self.uncertain_usd += max(0.0, reservation.usd - cost)
            used = reported.tokens.read + reported.tokens.output
            self.uncertain_tokens += max(0, reservation.tokens - used)
        self.dirty = True
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    def refuse(self, refused: RequestRefused) -> None:
        self.refusals[refused.reason] += 1
        self.stopped = str(refused) if refused.reason == "cost" else None
        self.dirty = True

    def note(self, reason: str | None) -> None:
        """Count a request that failed without being refused."""
        if reason:
            self.refusals[reason] += 1
            self.dirty = True

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve a request while the token is valid.

        Raise `RequestRefused` if there are too many.
        """
        task = asyncio.current_task()
        if task is None or len(self.running) >= MAX_WAITING:
            raise too_many(f"this task has {MAX_WAITING} requests under way already")
        self.running.add(task)
        try:
            yield
        finally:
            self.running.discard(task)

    @contextmanager
    def holding(self, size: int) -> Iterator[None]:
        """Reserve memory for a body. Raise `RequestRefused`."""
        if self.held_bytes + size > MAX_HELD_BYTES:
            raise too_many("this task's requests under way are too large together")
        self.held_bytes += size
        try:
            yield
        finally:
            self.held_bytes -= size

    def spent(self, *, final: bool = False) -> Spent:
        """Return the figures now; each refusal is reported once."""
        tokens, refusals = self.reported.tokens, dict(self.refusals)
        self.refusals.clear()
        self.dirty = False
        return Spent(
            id=self.allowed.id,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cache_read,
            cost_usd=round(self.spent_usd, COST_DIGITS),
            uncertain_usd=round(self.uncertain_usd, COST_DIGITS),
            stopped=self.stopped,
            refusals=refusals,
            final=final,
        )


class Accounts:
    """The accounts whose tokens are valid."""

    def __init__(self) -> None:
        self.strangers: Counter[str] = Counter()
        """The number of requests without a valid token, by reason of refusal."""
        self._by_digest: dict[bytes, Account] = {}

    def note_stranger(self, reason: str) -> None:
        """Count what was refused before a token was read."""
        self.strangers[reason] += 1

    def add(self, allowed: Register, *, now: float) -> None:
        digest = _digest(allowed.token)
        self._by_digest[digest] = Account(allowed, deadline=now + allowed.seconds)

    def of_token(self, token: str, *, now: float) -> Account:
        """Find an account by a token's digest, so that timing reveals nothing.

        Raise `RequestRefused`.
        """
        account = self._by_digest.get(_digest(token))
        if account is None or not hmac.compare_digest(
            account.allowed.token.encode(), token.encode("utf-8", "replace")
        ):
            raise unknown_token()
        if now >= account.deadline:
            raise unknown_token()
        return account

    async def revoke(self, account_id: int) -> Spent:
        """End an account and its requests under way, whose cost stays uncertain."""
        account = self._remove(account_id)
        if account is None:
            return Spent(id=account_id, final=True)
        running = list(account.running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        return account.spent(final=True)

    def changed(self) -> list[Spent]:
        return [account.spent() for account in self._by_digest.values() if account.dirty]

    def _remove(self, account_id: int) -> Account | None:
        for digest, account in self._by_digest.items():
            if account.allowed.id == account_id:
                del self._by_digest[digest]
                return account
        return None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
