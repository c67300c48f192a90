"""Reserves what a request can cost at most before it is forwarded."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from switchyard.domain.measuring.prices import (
    CACHE_CREATION_1H_FACTOR,
    CACHE_CREATION_FACTOR,
    TOKENS_PER_PRICE,
    WEB_SEARCH_USD,
    Price,
    price_of,
)
from switchyard_worker.parent.claude.proxy.accounts import Account, Reservation
from switchyard_worker.parent.claude.proxy.asked import Asked
from switchyard_worker.parent.claude.proxy.refusals import CapReached, invalid
from switchyard_worker.parent.claude.proxy.reported import Reported

LEAST_ANSWER: Final = 1_024
"""Tokens. An answer that could not be longer is not worth its question."""
GOOD_ANSWER: Final = 8_192
"""Tokens. Rather than shorten an answer to less, others that are under way are waited for."""
LARGEST_CONTEXT: Final = 1_000_000
"""Tokens. Each search makes the API read the whole context again, results included."""

Count = Callable[[], Awaitable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    reservation: Reservation
    max_tokens: int
    searches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cost:
    """The cost of one request, as a function of its answer's length."""

    asked: Asked
    price: Price
    input_tokens: int

    def usd(self, max_tokens: int, searches: int) -> float:
        return self.reading_usd(searches) + max_tokens * self.price.output / TOKENS_PER_PRICE

    def reading_usd(self, searches: int) -> float:
        hour = self.asked.caches_for_an_hour
        factor = CACHE_CREATION_1H_FACTOR if hour else CACHE_CREATION_FACTOR
        read = (searches + 1) * LARGEST_CONTEXT if searches else self.input_tokens
        return read * self.price.input * factor / TOKENS_PER_PRICE + searches * WEB_SEARCH_USD

    def affordable(self, room_usd: float) -> tuple[int, int]:
        """Return how many searches and how long an answer are affordable, the answer first."""
        least = min(self.asked.max_tokens, LEAST_ANSWER)
        searches = self.asked.searches
        while searches > 1 and self.usd(least, searches) > room_usd:
            searches -= 1
        left = room_usd - self.reading_usd(searches)
        tokens = int(left * TOKENS_PER_PRICE / self.price.output) if left > 0 else 0
        return min(self.asked.max_tokens, tokens), searches


async def reserve(account: Account, asked: Asked, count: Count) -> Granted:
    """Wait for the attempt's other requests if that helps. `count` asks the API for the input.

    Raise `RequestRefused`.
    """
    if account.allowed.cap_tokens is None:
        return await _within_cost(account, asked, count)
    while True:
        shortened, tokens = await _within_tokens(account, asked, count)
        granted = await _within_cost(account, shortened, count)
        if tokens <= (account.room_tokens or 0):  # nothing was awaited since it was granted
            granted.reservation.tokens = tokens
            return granted
        account.settle(granted.reservation, Reported(), complete=True)


async def _within_tokens(account: Account, asked: Asked, count: Count) -> tuple[Asked, int]:
    """Shorten the answer to what the budget has room for; return what is to be reserved."""
    if asked.searches:
        raise invalid("cost", "what a search reads has no bound: maxTokens forbids it")
    read, counted = asked.input_bound or 0, asked.input_bound is None
    if counted:
        read = await count()
    while True:
        changed, room = account.changed, (account.room_tokens or 0) - read
        others = account.others_are_under_way
        if room >= min(asked.max_tokens, GOOD_ANSWER if others else LEAST_ANSWER):
            most = min(asked.max_tokens, room)
            return replace(asked, max_tokens=most), read + most
        if not counted:
            read, counted = await count(), True
            continue
        if not others:
            raise CapReached(
                f"maxTokens of this task is reached: {account.room_tokens or 0:,} of"
                f" {account.allowed.cap_tokens or 0:,} tokens are left, the request reads {read:,}"
            )
        await changed.wait()


async def _within_cost(account: Account, asked: Asked, count: Count) -> Granted:
    if not account.capped:
        return _grant(account, asked, usd=0.0)
    price = price_of(asked.model)
    if price is None:
        raise invalid(
            "cost", f"{asked.model} has no price in our table: maxCostUsd cannot be enforced"
        )
    input_tokens, counted = asked.input_bound, False
    while True:
        changed = account.changed
        if input_tokens is not None and not _too_long(price, asked, input_tokens):
            cost = _Cost(asked=asked, price=price, input_tokens=input_tokens)
            whole = cost.usd(asked.max_tokens, asked.searches)
            if whole <= account.room_usd:
                return _grant(account, asked, usd=whole)
        if not counted:
            input_tokens, counted = await count(), True
            continue
        granted = _shortened(account, asked, price, input_tokens or 0)
        if granted:
            return granted
        await changed.wait()


def _shortened(account: Account, asked: Asked, price: Price, input_tokens: int) -> Granted | None:
    """Return `None` if another request's end may make room. Raise `CapReached`."""
    if _too_long(price, asked, input_tokens):
        raise CapReached(
            f"{asked.model} costs an unknown amount above {price.dearer_above:,} input tokens:"
            " maxCostUsd cannot be enforced"
        )
    cost = _Cost(asked=asked, price=price, input_tokens=input_tokens)
    max_tokens, searches = cost.affordable(account.room_usd)
    others = account.others_are_under_way
    if max_tokens >= min(asked.max_tokens, GOOD_ANSWER if others else LEAST_ANSWER):
        usd = cost.usd(max_tokens, searches)
        return _grant(account, asked, usd=usd, max_tokens=max_tokens, searches=searches)
    if others:
        return None
    raise CapReached(
        f"maxCostUsd of this task is reached: spent ${account.spent_usd:.6f},"
        f" reserved ${account.reserved_usd:.6f}, cap ${account.allowed.cap_usd:.6f}"
    )


def _grant(
    account: Account,
    asked: Asked,
    *,
    usd: float,
    max_tokens: int | None = None,
    searches: int | None = None,
) -> Granted:
    return Granted(
        reservation=account.reserve(usd, asked.model),
        max_tokens=asked.max_tokens if max_tokens is None else max_tokens,
        searches=asked.searches if searches is None else searches,
    )


def _too_long(price: Price, asked: Asked, input_tokens: int) -> bool:
    """Return whether the input may grow too long: what a search finds is read, too."""
    return price.dearer_above is not None and (
        input_tokens > price.dearer_above or asked.searches > 0
    )
