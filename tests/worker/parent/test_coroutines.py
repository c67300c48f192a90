"""Waiting for the first of several coroutines."""

import asyncio

import pytest

from switchyard_worker.parent.coroutines import first_of


def test_the_first_to_end_is_named_and_the_others_are_cancelled() -> None:
    async def waited() -> tuple[str, bool]:
        never = asyncio.ensure_future(asyncio.Event().wait())
        ended = await first_of({"never": never, "now": asyncio.sleep(0)})
        return ended, never.cancelled()

    assert asyncio.run(waited()) == ("now", True)


def test_who_waits_for_what_was_cancelled_is_cancelled() -> None:
    async def waited() -> str:
        receiving = asyncio.ensure_future(asyncio.Event().wait())
        asyncio.get_running_loop().call_soon(receiving.cancel)
        stop = asyncio.Event().wait()
        return await first_of({"wait": asyncio.shield(receiving), "stop": stop})

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(waited())
