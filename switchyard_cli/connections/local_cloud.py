"""The local cloud of this machine, imported when a command starts, stops or examines it.

Most commands need its endpoint alone, and that is in one small file.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from switchyard.domain.measuring.scaling import ScalingPolicy
    from switchyard_local.cloud import LocalCloud, Status
    from switchyard_local.endpoint import Endpoint
    from switchyard_local.functions.invoke import Invoked
    from switchyard_local.say import Say


class OnDemandLocalCloud:
    """Implements `Cloud`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def endpoint(self) -> Endpoint:
        from switchyard_local.home import Home  # noqa: PLC0415 - other stages need none of it
        from switchyard_local.running import running_endpoint  # noqa: PLC0415

        return running_endpoint(Home(self._folder.resolve()))

    def up(self, say: Say, *, functions: Sequence[str] | None = None) -> Endpoint:
        return self._whole.up(say, functions=functions)

    def down(self, say: Say) -> None:
        self._whole.down(say)

    def borrowed(self, say: Say, *, functions: Sequence[str] = ()) -> AbstractContextManager[bool]:
        return self._whole.borrowed(say, functions=functions)

    def status(self) -> Status:
        return self._whole.status()

    def require_worker(self) -> None:
        self._whole.require_worker()

    def supervise(self, policy: ScalingPolicy, say: Say) -> None:
        self._whole.supervise(policy, say)

    def work(self, pool: str, say: Say, *, read: Callable[[str], None]) -> int:
        return self._whole.work(pool, say, read=read)

    def invoke(self, function: str, event: bytes) -> Invoked:
        return self._whole.invoke(function, event)

    @cached_property
    def _whole(self) -> LocalCloud:
        from switchyard_local.cloud import LocalCloud  # noqa: PLC0415 - its imports take 0.3 s

        return LocalCloud(self._folder)
