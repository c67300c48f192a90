"""The table of a job: order, looks, and what is left out when the screen is small."""

from datetime import timedelta

from rich.console import Console

from switchyard_cli.views.job_table import MAX_ROWS, header, job_table
from switchyard_cli.views.wording import duration
from tests.unit.cli.fakes.api import CREATED, NOW_MS, a_job, a_task


def drawn(job_status: str, *tasks: object, max_rows: int = MAX_ROWS) -> list[str]:
    console = Console(width=120, markup=False, emoji=False, highlight=False, color_system=None)
    with console.capture() as capture:
        job = a_job(job_status, *tasks)  # type: ignore[arg-type]
        console.print(job_table(job, now_ms=NOW_MS + 3_000, max_rows=max_rows))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_parents_come_before_children_and_less_indented() -> None:
    lines = drawn(
        "processing",
        a_task("compile", "waiting", after=("colors", "fonts")),
        a_task("colors", "completed", after=("scrape",), cost_usd=0.5),
        a_task("fonts", "retrying", after=("scrape",), attempt=2),
        a_task("scrape", "completed"),
    )

    assert lines[0].split("  ")[1:-1] == [
        "processing",
        "2 of 4 tasks completed",
        "3.0 s",
        "$0.5000",
    ]
    assert lines[2].startswith("✔ scrape ")
    assert lines[3].startswith("  ✔ colors ")
    assert lines[4].startswith("  ↻ fonts ")
    assert lines[5].startswith("    · compile ")
    assert lines[5].endswith("colors, fonts")


def test_what_a_running_task_does_takes_the_place_of_the_dependencies() -> None:
    running = a_task("scrape", "processing", after=("a",), activity="progress:40 % page 12 of 30")

    assert drawn("processing", running)[2].endswith("40 % page 12 of 30")


def test_an_error_takes_the_place_of_the_dependencies() -> None:
    lines = drawn("failed", a_task("scrape", "failed", error="boom\x1b[2J\n[red]"))

    assert lines[-1].endswith("boom[2J [red]")


def test_a_small_screen_leaves_out_what_is_over_first() -> None:
    done = [a_task(f"done-{n}", "completed") for n in range(20)]
    busy = [a_task(f"busy-{n}", "processing") for n in range(3)]
    later = [a_task(f"later-{n}", "waiting", after=("busy-0",)) for n in range(5)]

    lines = drawn("processing", *done, *busy, *later, max_rows=6)

    assert [line.split()[1] for line in lines[2:-1]] == [
        "busy-0",
        "busy-1",
        "busy-2",
        "later-0",
        "later-1",
        "later-2",
    ]
    assert lines[-1] == "… and 22 more"


def test_failures_are_never_left_out() -> None:
    waiting = [a_task(f"later-{n}", "waiting") for n in range(50)]

    lines = drawn("partial_failure", *waiting, a_task("bad", "failed"), max_rows=3)

    assert any("✘ bad" in line for line in lines)


def test_a_job_of_ten_thousand_shows_what_failed_and_what_is_new() -> None:
    chain = [a_task("t0", "completed")]
    chain += [a_task(f"t{n}", "completed", after=(f"t{n - 1}",)) for n in range(1, 9_999)]

    lines = drawn("failed", *chain, a_task("bad", "failed", after=("t9998",)))

    assert lines[0].split("  ")[2] == "9,999 of 10,000 tasks completed"
    assert len(lines) == 2 + MAX_ROWS + 1
    assert "✘ bad" in lines[-2]
    assert lines[-1] == "… and 9,800 more"


def test_durations_grow_up() -> None:
    assert [duration(s) for s in (0.04, 59.9, 61, 3725)] == [
        "0.0 s",
        "59.9 s",
        "1 min 01 s",
        "1 h 02 min",
    ]


def test_after_a_redrive_the_clock_counts_its_run() -> None:
    before = a_task("a", "completed")
    again = a_task("b", "processing", run=2, started_at=CREATED + timedelta(hours=2))
    reopened_at = CREATED + timedelta(hours=2, seconds=-1)
    job = a_job("processing", before, again, run=2, reopened_at=reopened_at)

    now_ms = NOW_MS + 2 * 3_600_000 + 3_000

    assert "  run 2, 4.0 s  " in header(job, now_ms=now_ms).plain


def test_the_clock_counts_the_run_of_a_task_that_an_earlier_redrive_left_alone() -> None:
    again = a_task("b", "processing", run=2, started_at=CREATED + timedelta(hours=2))
    job = a_job("processing", again, run=3, reopened_at=CREATED + timedelta(hours=2))

    assert "  run 3, 3.0 s  " in header(job, now_ms=NOW_MS + 2 * 3_600_000 + 3_000).plain


def test_a_first_run_is_not_numbered() -> None:
    assert "run" not in header(a_job("completed", a_task("a", "completed")), now_ms=NOW_MS).plain


def test_a_job_that_is_prepared_for_its_next_run_is_not_shown_as_cancelled_again() -> None:
    task = a_task("a", "cancelled")
    job = a_job("processing", task, completed_at=CREATED, cancel_requested=True)

    shown = header(job, now_ms=NOW_MS + 9_000).plain

    assert "being cancelled" not in shown
    assert "  run 2, 0.0 s  " in shown
