"""A job as lines: the clock, and what counts as news."""

from datetime import timedelta

from rich.console import Console

from switchyard.contracts.jobs import JobView
from switchyard.testing import ManualClock
from switchyard_cli.views.change_lines import ChangeLines
from tests.unit.cli.fakes.api import CREATED, JOB_ID, NOW_MS, a_job, a_task

LATER = timedelta(hours=2)
SHOP = a_task("shop", "completed")
FAILED = a_task("verdict", "failed", error="closed")
PREPARED = a_job("processing", SHOP, FAILED, completed_at=CREATED + timedelta(seconds=4))


def printed(*looks: tuple[float, JobView]) -> list[str]:
    """Return the lines for looks at a job, each so many seconds after its submission."""
    console = Console(width=160, markup=False, emoji=False, highlight=False, color_system=None)
    clock = ManualClock(NOW_MS)
    lines = ChangeLines(console, clock)
    with console.capture() as capture:
        for seconds, job in looks:
            clock.sleep(seconds - (clock.now_ms() - NOW_MS) / 1000)
            lines.show(job)
    return capture.get().splitlines()


def test_after_a_redrive_only_its_own_run_is_news_and_timed() -> None:
    began = LATER.total_seconds()
    facts = {"run": 2, "reopened_at": CREATED + LATER}
    started = a_task("verdict", "processing", run=2, started_at=CREATED + LATER)
    settled_at = CREATED + LATER + timedelta(seconds=1)
    done = started.model_copy(update={"status": "completed", "settled_at": settled_at})

    lines = printed(
        (began - 1, PREPARED),
        (began, a_job("processing", SHOP, FAILED, **facts)),
        (began + 0.4, a_job("processing", SHOP, started, **facts)),
        (began + 2, a_job("completed", SHOP, done, **facts, completed_at=settled_at)),
    )

    assert lines == [
        f"{JOB_ID} brand: 2 tasks, run 2, 1 completed before",
        "    0.0 s  job processing",
        "    0.4 s  verdict processing",
        "    1.0 s  verdict completed  1.0 s",
        "    1.0 s  job completed",
    ]


def test_a_task_that_fails_again_is_news_again() -> None:
    settled_at = CREATED + LATER + timedelta(seconds=1)
    again = FAILED.model_copy(update={"settled_at": settled_at, "started_at": CREATED + LATER})
    ended = a_job("failed", SHOP, again, run=2, reopened_at=CREATED + LATER)

    lines = printed((7_199, PREPARED), (7_203, ended))

    assert sum("verdict failed  1.0 s  closed" in line for line in lines) == 1


def test_the_clock_never_goes_back() -> None:
    failure = a_job("partial_failure", FAILED)

    lines = printed((4.4, failure), (4.9, a_job("failed", FAILED)))

    assert lines[-2:] == ["    4.4 s  job partial_failure", "    4.4 s  job failed"]


def test_a_cancellation_is_news() -> None:
    busy = a_task("verdict", "processing")
    flagged = busy.model_copy(update={"cancel_requested": True})

    lines = printed(
        (1, a_job("processing", busy)),
        (2, a_job("processing", flagged, cancel_requested=True)),
    )

    assert lines[-2:] == [
        "    2.0 s  verdict processing, being cancelled",
        "    2.0 s  job processing, being cancelled",
    ]


def test_a_task_that_completed_on_a_retry_shows_no_error() -> None:
    lines = printed((3, a_job("completed", a_task("shop", "completed", attempt=2, error="boom"))))

    assert lines[1] == "    4.0 s  shop completed  2.0 s  attempt 2"


def test_no_id_of_a_task_is_taken_for_something_else() -> None:
    named = [a_task(name, "completed") for name in ("note", "job", JOB_ID)]

    lines = printed((1, a_job("processing", *named)), (2, a_job("processing", *named)))

    assert sum("note completed" in line for line in lines) == 1
    assert sum("processing" in line for line in lines) == 1
