"""MiniStack as a process: what it holds is there again after it was killed or stopped."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard.adapters.system import SystemClock
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.emulator.ministack import MiniStack
from switchyard_local.home import Home
from tests.local.free_port import free_port
from tests.local.leftovers import left_below

CREATE, LIST = "AmazonSQS.CreateQueue", "AmazonSQS.ListQueues"


@pytest.fixture
def ministack(tmp_path: Path, port: int) -> Iterator[MiniStack]:
    home = Home(tmp_path)
    home.create()
    ministack = MiniStack(home, port, clock=SystemClock(), extra_environment={})
    try:
        yield ministack
    finally:
        ministack.stop(keep_data=False)
        assert left_below(tmp_path) == []


def start(ministack: MiniStack) -> None:
    ministack.start()
    ministack.wait_until_ready()


def queues(port: int) -> int:
    return len(Gateway(port).call(LIST, {}).get("QueueUrls", []))


def kill(ministack: MiniStack) -> None:
    pid = ministack.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    ministack.require_port()


def test_a_killed_one_starts_with_its_last_save(ministack: MiniStack, port: int) -> None:
    start(ministack)
    Gateway(port).call(CREATE, {"QueueName": "saved"})
    ministack.save()
    kill(ministack)
    save = ministack.last_save
    assert save is not None
    assert not save.final
    start(ministack)
    assert queues(port) == 1


def test_it_saves_without_being_asked(tmp_path: Path, port: int) -> None:
    home = Home(tmp_path)
    home.create()
    often = {"SWITCHYARD_SAVE_SECONDS": "0.1"}
    ministack = MiniStack(home, port, clock=SystemClock(), extra_environment=often)
    try:
        start(ministack)
        before = ministack.last_save
        while ministack.last_save == before:
            SystemClock().sleep(0.05)
        assert ministack.has_saved
    finally:
        ministack.stop(keep_data=False)


def test_one_that_is_stopped_has_saved_everything(ministack: MiniStack, port: int) -> None:
    start(ministack)
    Gateway(port).call(CREATE, {"QueueName": "saved"})
    ministack.stop(keep_data=True)
    save = ministack.last_save
    assert save is not None
    assert save.final
    start(ministack)
    assert queues(port) == 1


def test_a_save_moves_to_another_port(ministack: MiniStack, tmp_path: Path, port: int) -> None:
    start(ministack)
    Gateway(port).call(CREATE, {"QueueName": "saved"})
    ministack.stop(keep_data=True)
    other_port = free_port()
    other = MiniStack(Home(tmp_path), other_port, clock=SystemClock(), extra_environment={})
    try:
        start(other)
        urls = Gateway(other_port).call(LIST, {})["QueueUrls"]
        assert urls == [f"http://127.0.0.1:{other_port}/000000000000/saved"]
    finally:
        other.stop(keep_data=True)
