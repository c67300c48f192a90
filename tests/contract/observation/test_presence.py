"""The contract of `Presence`, the list of present workers."""

from dataclasses import replace

from switchyard.domain.health.presence import PresentWorker
from tests.builders import NOW_MS
from tests.contract.conftest import Backend

WORKER = PresentWorker(
    worker_id="worker-1",
    started_at_ms=NOW_MS - 60_000,
    seen_at_ms=NOW_MS,
    slots=3,
    busy=0,
    version="1.2.3",
)


def test_at_first_nobody_is_there(backend: Backend) -> None:
    assert list(backend.presence.all()) == []


def test_what_a_worker_said_last_is_what_is_known_of_it(backend: Backend) -> None:
    other = replace(WORKER, worker_id="worker-2")
    later = replace(WORKER, seen_at_ms=NOW_MS + 60_000, busy=2)
    for word in (other, WORKER, later):
        backend.presence.seen(word)

    assert list(backend.presence.all()) == [later, other]


def test_a_worker_says_which_agent_it_runs(backend: Backend) -> None:
    offline = replace(WORKER, backend="offline")
    backend.presence.seen(offline)

    assert list(backend.presence.all()) == [offline]


def test_a_worker_says_which_functions_it_serves(backend: Backend) -> None:
    served = replace(WORKER, functions=("my_functions@ab12", "others@cd34"))
    backend.presence.seen(served)
    assert backend.presence.all() == [served]
    backend.presence.seen(WORKER)
    assert backend.presence.all() == [WORKER]


def test_one_that_left_is_not_there_and_may_come_back(backend: Backend) -> None:
    backend.presence.seen(WORKER)
    backend.presence.left(WORKER.worker_id, now_ms=NOW_MS)
    backend.presence.left("never-heard-of", now_ms=NOW_MS)
    assert list(backend.presence.all()) == []

    backend.presence.seen(WORKER)
    assert list(backend.presence.all()) == [WORKER]


def test_one_that_drains_says_so_until_it_takes_tasks_again(backend: Backend) -> None:
    released = replace(WORKER, release="worker:7")
    draining = replace(released, draining=True, busy=1, busy_until_ms=NOW_MS + 60_000)
    for word in (released, draining):
        backend.presence.seen(word)
        assert list(backend.presence.all()) == [word]

    backend.presence.seen(released)
    assert list(backend.presence.all()) == [released]
    backend.presence.left(WORKER.worker_id, now_ms=NOW_MS)
    assert list(backend.presence.all()) == []
