"""Decides which of a pool's groups is asked for work first: a policy, and one worker's turns."""

from collections.abc import Callable, Collection, Sequence

from switchyard.domain.scheduling.pools import Policy, Subscription

Between = Callable[[float, float], float]
"""Draws a number between two others."""


class Turns:
    """The order in which one worker asks its groups, and what each of them was served."""

    def __init__(self, policy: Policy, subscriptions: Sequence[Subscription]) -> None:
        self._policy = policy
        self._weights = {one.group: float(one.weight) for one in subscriptions}
        self._last: str | None = None
        self._owed = dict.fromkeys(self._weights, 0.0)
        """The number of tasks that each group was not served yet, of its share so far."""

    def follow(self, subscriptions: Sequence[Subscription]) -> None:
        """Take over the subscriptions of the pool, which may change while a worker runs."""
        self._weights = {one.group: float(one.weight) for one in subscriptions}
        self._owed = {group: self._owed.get(group, 0.0) for group in self._weights}

    def join(self, group: str) -> None:
        """Ask a group as well that a wake-up was for, with weight 1."""
        if group not in self._weights:
            self._weights[group] = 1.0
            self._owed[group] = 0.0

    def order(self, between: Between) -> list[str]:
        """Return all groups, the one whose turn it is first."""
        match self._policy:
            case Policy.STRICT:
                return list(self._weights)
            case Policy.ROUND_ROBIN:
                return self._after_the_last()
            case Policy.RANDOM:
                return _drawn(self._weights, between)
            case Policy.WEIGHTED:
                return self._by_deadline()

    def served(self, group: str, *, empty: Collection[str] = ()) -> None:
        """Note that a task of this group was taken, and which groups before it had none.

        A group without work is owed nothing: what it did not use goes to the others.
        """
        self._last = group
        lost = sum(self._owed[other] for other in empty)
        self._owed.update(dict.fromkeys(empty, 0.0))
        for other, share in self._shares(without=empty).items():
            self._owed[other] += share * (1 + lost)
        self._owed[group] -= 1

    def _after_the_last(self) -> list[str]:
        groups = list(self._weights)
        if self._last not in self._weights:
            return groups
        start = groups.index(self._last) + 1
        return groups[start:] + groups[:start]

    def _by_deadline(self) -> list[str]:
        """Return first what would soonest be a whole task behind its share, if it was owed any.

        This is Tijdeman's rule for the chairman assignment problem: since the worker began, no
        group is ever more than 1 - 1/(2k - 2) tasks away from its share of k groups.
        """
        shares = self._shares()
        slack = 1 / max(2, 2 * len(shares) - 2)
        due = {group: self._owed[group] + share for group, share in shares.items()}

        def rank(group: str) -> tuple[bool, float]:
            return due[group] < slack - 1e-9, (1 - slack - due[group]) / shares[group]

        return sorted(shares, key=rank)

    def _shares(self, *, without: Collection[str] = ()) -> dict[str, float]:
        busy = {group: weight for group, weight in self._weights.items() if group not in without}
        whole = sum(busy.values())
        return {group: weight / whole for group, weight in busy.items()}


def _drawn(weights: dict[str, float], between: Between) -> list[str]:
    """Return the groups in a random order in which a heavier one is likely to be earlier."""
    left, drawn = dict(weights), list[str]()
    while left:
        drawn.append(_one_of(left, between))
        del left[drawn[-1]]
    return drawn


def _one_of(weights: dict[str, float], between: Between) -> str:
    point = between(0.0, sum(weights.values()))
    for group, weight in weights.items():
        point -= weight
        if point <= 0:
            return group
    return next(reversed(weights))
