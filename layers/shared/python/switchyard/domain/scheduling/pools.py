"""Pools: sets of identical workers that subscribe to groups of work queues."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from switchyard.domain.ids import GROUP_NAME, GROUP_NAME_RULE, POOL_NAME, POOL_NAME_RULE
from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard.domain.scheduling.groups import DEFAULT_GROUP

DEFAULT_POOL: Final = "default"
DEAD_LETTERS_SUFFIX: Final = "-dlq"
MAX_SUBSCRIPTIONS: Final = 20
MAX_WEIGHT: Final = 100
MAX_SLOTS: Final = 50
MAX_WORKERS: Final = 1_000
FARGATE_MEMORY_MB: Final = {
    256: (512, 2_048),
    512: (1_024, 4_096),
    1_024: (2_048, 8_192),
    2_048: (4_096, 16_384),
    4_096: (8_192, 30_720),
}
"""The least and the most memory that Fargate offers for each number of CPU units.
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html"""


class PoolKind(StrEnum):
    FARGATE = "fargate"
    LAMBDA = "lambda"


class Policy(StrEnum):
    """The order in which a worker asks the groups of its pool."""

    ROUND_ROBIN = "round-robin"
    """Each group in turn."""
    WEIGHTED = "weighted"
    """Each group in proportion to its weight."""
    RANDOM = "random"
    """One drawn by weight, each time anew."""
    STRICT = "strict"
    """The first that has work: those after it starve while it has."""


class WhenEmpty(StrEnum):
    """The empty behaviour: what a worker does when its groups have no work."""

    POLL = "poll"
    HIBERNATE = "hibernate"
    TERMINATE = "terminate"


@dataclass(frozen=True, slots=True)
class Subscription:
    group: str
    weight: int = 1

    def __post_init__(self) -> None:
        if not GROUP_NAME.fullmatch(self.group):
            raise ValueError(f"the group '{self.group[:50]}' is not {GROUP_NAME_RULE}")
        if not 1 <= self.weight <= MAX_WEIGHT:
            raise ValueError(
                f"the weight of {self.group} is {self.weight}; it lies between 1 and {MAX_WEIGHT}"
            )

    def __str__(self) -> str:
        return self.group if self.weight == 1 else f"{self.group}:{self.weight}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool as the stage table has it. The empty behaviour has no default on purpose."""

    name: str
    kind: PoolKind = PoolKind.FARGATE
    when_empty: WhenEmpty
    subscriptions: tuple[Subscription, ...]
    """The groups that it serves unless operators change them while it runs."""
    policy: Policy = Policy.ROUND_ROBIN
    model: str | None = None
    """The model of tasks whose definition names none; `None`: the worker's default."""
    slots: int = 3
    """How many tasks a worker runs at once."""
    cpu: int = 1_024
    memory_mb: int = 4_096
    min_workers: int = 2
    max_workers: int = 10
    scale_up_threshold: int = 20
    """With more tasks than this for each worker, further workers are started."""
    scale_down_threshold: int = 5
    """With fewer tasks than this for each worker, some workers are stopped."""
    scale_out_cooldown_seconds: float = 30
    scale_in_after_seconds: float = 300
    spot: bool = False
    """Whether its workers run on Fargate Spot: AWS may stop them two minutes after a warning."""

    def __post_init__(self) -> None:
        problem = next(_problems(self), None)
        if problem:
            raise ValueError(f"the pool {self.name}: {problem}")

    @property
    def scaling(self) -> ScalingPolicy:
        kept = self.scale_down_threshold
        return ScalingPolicy(
            min_workers=self.min_workers,
            max_workers=self.max_workers,
            target_per_worker=self.scale_up_threshold,
            kept_per_worker=kept if kept < self.scale_up_threshold else None,
            scale_out_cooldown_seconds=self.scale_out_cooldown_seconds,
            scale_in_after_seconds=self.scale_in_after_seconds,
        )


@dataclass(frozen=True, slots=True)
class DeployedPool:
    """A pool with the address of the queue that wakes its workers."""

    pool: Pool
    queue_url: str

    @property
    def name(self) -> str:
        return self.pool.name


def _problems(pool: Pool) -> Iterator[str]:
    if not POOL_NAME.fullmatch(pool.name):
        yield f"its name is not {POOL_NAME_RULE}"
    elif pool.name[0].isdigit() or pool.name.endswith(DEAD_LETTERS_SUFFIX):
        yield f"its name begins with a digit or ends in {DEAD_LETTERS_SUFFIX}; choose another"
    yield from _problems_with_emptiness(pool)
    yield from _problems_with_subscriptions(pool)
    if not 1 <= pool.slots <= MAX_SLOTS:
        yield f"it has {pool.slots} slots; a worker has between 1 and {MAX_SLOTS}"
    if not 0 <= pool.min_workers <= pool.max_workers <= MAX_WORKERS or pool.max_workers < 1:
        yield (
            f"it has {pool.min_workers} to {pool.max_workers} workers; the least number lies "
            f"between 0 and the greatest, which lies between 1 and {MAX_WORKERS:,}"
        )
    if not 1 <= pool.scale_down_threshold <= pool.scale_up_threshold:
        yield (
            f"its scale-down threshold is {pool.scale_down_threshold}; it lies between 1 and the "
            f"scale-up threshold ({pool.scale_up_threshold})"
        )
    if pool.kind is PoolKind.FARGATE:
        yield from _problems_with_fargate(pool)


def _problems_with_emptiness(pool: Pool) -> Iterator[str]:
    if pool.when_empty is WhenEmpty.TERMINATE:
        yield (
            "its empty behaviour is terminate, but a service would start its workers again; "
            "say poll or hibernate, and use `switchyard work --until-empty` for batch runs"
        )
    if pool.when_empty is WhenEmpty.HIBERNATE and pool.min_workers:
        yield (
            f"its empty behaviour is hibernate, but {pool.min_workers} workers have to stay; "
            "set the least number of workers to 0, or say poll"
        )


def _problems_with_subscriptions(pool: Pool) -> Iterator[str]:
    groups = [one.group for one in pool.subscriptions]
    if len(groups) > MAX_SUBSCRIPTIONS:
        yield f"it subscribes to {len(groups)} groups; at most {MAX_SUBSCRIPTIONS} are possible"
    twice = sorted({group for group in groups if groups.count(group) > 1})
    if twice:
        yield f"it subscribes twice to {', '.join(twice)}"


def _problems_with_fargate(pool: Pool) -> Iterator[str]:
    if pool.cpu not in FARGATE_MEMORY_MB:
        offered = ", ".join(map(str, FARGATE_MEMORY_MB))
        yield f"it has {pool.cpu} CPU units; Fargate offers {offered}"
        return
    least, most = FARGATE_MEMORY_MB[pool.cpu]
    if not least <= pool.memory_mb <= most:
        yield (
            f"it has {pool.memory_mb} MB; with {pool.cpu} CPU units Fargate offers {least} to "
            f"{most} MB"
        )


def problem_with_pools(pools: Iterable[Pool]) -> str | None:
    """Say what is wrong with the pools of a stage together, if anything."""
    names = [pool.name for pool in pools]
    if DEFAULT_POOL not in names:
        return f"there is no pool named {DEFAULT_POOL}: it adopts other producers' tasks"
    twice = sorted({name for name in names if names.count(name) > 1})
    return f"two pools are named {twice[0]}" if twice else None


ChangedWeights = Mapping[str, int]
"""What operators changed of a pool's subscriptions: weights by group, 0 for an ended one."""


def subscriptions_of(pool: Pool, changed: ChangedWeights) -> tuple[Subscription, ...]:
    """Return what the pool serves now: the stage table's groups, with operators' changes."""
    weights = {one.group: one.weight for one in pool.subscriptions} | dict(changed)
    return tuple(Subscription(group, weight) for group, weight in weights.items() if weight)


def problem_with_subscribing(
    pool: Pool, now: Iterable[Subscription], new: Subscription, others: Iterable[PoolKind]
) -> str | None:
    """Say why the pool cannot serve another group, if so.

    `others` are the kinds of the pools that serve the group already.
    """
    groups = {one.group for one in now} | {new.group}
    if len(groups) > MAX_SUBSCRIPTIONS:
        return f"a pool subscribes to at most {MAX_SUBSCRIPTIONS} groups; end another one first"
    if any(kind is not pool.kind for kind in others):
        return (
            f"the group {new.group} is served by pools of another kind: a Lambda pool takes code "
            "tasks only, so a group has either Lambda pools or Fargate pools"
        )
    if pool.kind is PoolKind.LAMBDA and new.group == DEFAULT_GROUP:
        return f"the group {DEFAULT_GROUP} takes tasks of agents, which a Lambda pool cannot run"
    return None
