"""Blocking calls on threads that were started before they were needed."""

import asyncio
import threading
from typing import NoReturn

import pytest

from switchyard.adapters.system import ThreadOffload

THREADS = 3


def refuse(*_: object) -> NoReturn:
    raise RuntimeError("can't start new thread")


def test_calls_are_made_when_the_machine_has_no_thread_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offload = ThreadOffload(threads=THREADS)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    together = threading.Barrier(THREADS)

    async def all_at_once() -> list[int]:
        calls = (offload(together.wait, timeout=10) for _ in range(THREADS))
        return await asyncio.gather(*calls)

    assert sorted(asyncio.run(all_at_once())) == list(range(THREADS))
    offload.close()


def test_a_machine_without_threads_is_noticed_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        ThreadOffload(threads=THREADS)
