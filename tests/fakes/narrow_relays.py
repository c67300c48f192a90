"""Relays that stand for few, so that small jobs have many of them."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from switchyard.domain.jobs import relays


@contextmanager
def narrow_relays(most: int) -> Iterator[None]:
    defaults = relays.compile_edges.__kwdefaults__ or {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relays, "MAX_NAMES", most)
        patch.setitem(defaults, "fan_in", most)
        yield
