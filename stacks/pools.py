"""The pools of each stage: sets of identical workers, each with a queue of its own.

Other pools by model tier are further rows, such as `coordinators` with Sonnet and `architects` with
Opus; docs/pools.md shows them.
"""

from typing import Final

from switchyard.domain.scheduling.groups import DEFAULT_GROUP
from switchyard.domain.scheduling.pools import DEFAULT_POOL, Pool, Subscription, WhenEmpty

HAIKU: Final = "claude-haiku-5-5"
EVERY_TASK: Final = (Subscription(DEFAULT_GROUP),)
DRONES: Final = (Subscription("drones"),)

LOCAL_POOLS: Final = (
    Pool(
        name=DEFAULT_POOL,
        when_empty=WhenEmpty.POLL,
        subscriptions=EVERY_TASK,
        min_workers=0,  # never deployed: `switchyard supervise` has options of its own
        max_workers=5,
        scale_down_threshold=20,
    ),
    Pool(
        name="drones",
        when_empty=WhenEmpty.POLL,
        subscriptions=DRONES,
        model=HAIKU,
        slots=2,
        min_workers=1,
        max_workers=2,
    ),
)

DEV_POOLS: Final = (
    Pool(
        name=DEFAULT_POOL,
        when_empty=WhenEmpty.POLL,
        subscriptions=EVERY_TASK,
        min_workers=0,
        max_workers=2,
        scale_down_threshold=20,
    ),
    Pool(
        name="drones",
        when_empty=WhenEmpty.HIBERNATE,
        subscriptions=DRONES,
        model=HAIKU,
        slots=2,
        cpu=512,
        memory_mb=2_048,
        min_workers=0,
        max_workers=2,
        spot=True,
    ),
)

PROD_POOLS: Final = (
    Pool(
        name=DEFAULT_POOL,
        when_empty=WhenEmpty.POLL,
        subscriptions=EVERY_TASK,
        min_workers=0,
        max_workers=5,
        scale_down_threshold=20,
    ),
)
