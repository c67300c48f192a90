"""Several commands, one local cloud: it stops when the last of them has left."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from switchyard_local.say import Say
from switchyard_local.sharing import Sharing


class SharedCloud:
    def __init__(self, folder: Path) -> None:
        self.is_up = False
        self.said: list[str] = []
        self.interrupted_after_up = False
        self._folder = folder

    @contextmanager
    def borrowed(self) -> Iterator[bool]:
        sharing = Sharing(self._folder / "users", self._folder / "temporary")
        with sharing.borrowed(
            self.said.append,
            running=lambda: self.is_up,
            up=self._up,
            down=lambda _say: self._turn(up=False),
        ) as goes_down:
            yield goes_down

    def keep(self) -> None:
        self.is_up = True
        Sharing(self._folder / "users", self._folder / "temporary").keep()

    def _up(self, _say: Say) -> None:
        self._turn(up=True)
        if self.interrupted_after_up:
            raise KeyboardInterrupt

    def _turn(self, *, up: bool) -> None:
        self.is_up = up


@pytest.fixture
def cloud(tmp_path: Path) -> SharedCloud:
    return SharedCloud(tmp_path)


def test_who_started_it_stops_it(cloud: SharedCloud) -> None:
    with cloud.borrowed() as goes_down:
        assert cloud.is_up
        assert goes_down
    assert not cloud.is_up


def test_a_cloud_that_was_up_stays_up(cloud: SharedCloud) -> None:
    cloud.keep()
    with cloud.borrowed() as goes_down:
        assert not goes_down
    assert cloud.is_up


def test_the_last_to_leave_stops_it_whoever_started_it(cloud: SharedCloud) -> None:
    first, second = cloud.borrowed(), cloud.borrowed()
    first.__enter__()
    with second as goes_down:
        assert goes_down
        first.__exit__(None, None, None)
        assert cloud.is_up
        assert "Another command" in cloud.said[-1]
    assert not cloud.is_up


def test_a_job_that_fails_stops_it_too(cloud: SharedCloud) -> None:
    with pytest.raises(KeyboardInterrupt), cloud.borrowed():
        raise KeyboardInterrupt
    assert not cloud.is_up


def test_asking_for_a_cloud_that_stays_outlives_those_who_borrowed_it(cloud: SharedCloud) -> None:
    with cloud.borrowed():
        cloud.keep()
    assert cloud.is_up


def test_a_cloud_that_came_up_for_an_interrupted_command_is_stopped(cloud: SharedCloud) -> None:
    cloud.interrupted_after_up = True
    with pytest.raises(KeyboardInterrupt), cloud.borrowed():
        pass
    assert not cloud.is_up
