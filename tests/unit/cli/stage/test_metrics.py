"""`metrics`: the numbers of a stage, once or again and again."""

import io
import json

import pytest
from rich.console import Console

from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, Spending
from switchyard.domain.states import TaskState
from switchyard_cli.views import refresh
from tests.builders import NOW_MS
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeCloud
from tests.unit.cli.fakes.measurer import FakeMeasurer

LAST_MINUTE = NOW_MS - MINUTE_MS
SCRAPE = Spending(cost_micro_usd=1_234_500, input_tokens=12_345, output_tokens=678)


@pytest.fixture
def busy(measurer: FakeMeasurer) -> FakeMeasurer:
    measurer.harness.add_task("running", TaskState.PROCESSING, ready_ms_ago=1)
    measurer.harness.add_task("waiting", TaskState.QUEUED, ready_ms_ago=125_000)
    counts = Counts(
        claims=30,
        completions=15,
        timed=2,
        processing_ms=5_000,
        by_definition={"cheap": Spending(cache_read_tokens=9), "scrape": SCRAPE},
    )
    measurer.harness.memory.counters.add(LAST_MINUTE, counts)
    return measurer


@pytest.mark.usefixtures("busy")
def test_people_see_each_number_with_what_it_means(switchyard: Switchyard) -> None:
    result = switchyard("metrics")

    lines = [line.split("  ") for line in result.stdout.splitlines()]
    shown = {
        parts[0].strip(): [part.strip() for part in parts[1:] if part.strip()] for parts in lines
    }
    assert result.stdout.startswith("local: now, and rates of the last 5 min 00 s\n")
    assert shown["in_flight_count"] == ["1", "tasks are held by a worker"]
    assert shown["claim_rate"][0] == "0.100"
    assert shown["avg_processing_time"][0] == "2.5 s"
    assert shown["age_of_oldest_item"][0] == "2 min 05 s"
    assert shown["$1.2345"] == ["12,345", "678", "0", "scrape"]
    assert result.stdout.index("scrape") < result.stdout.index("cheap")


def test_what_nobody_knows_is_not_nought(switchyard: Switchyard) -> None:
    result = switchyard("metrics")

    (line,) = (line for line in result.stdout.splitlines() if "avg_processing_time" in line)
    assert line.split()[1] == "?"
    assert "cost" not in result.stdout


def test_programs_get_the_names_that_cloudwatch_has(
    switchyard: Switchyard, busy: FakeMeasurer
) -> None:
    found = json.loads(switchyard("metrics", "--json", "--window", "1", "--stage", "dev").stdout)

    assert (found["stage"], found["at"]) == ("dev", "2027-01-15T08:00:00Z")
    assert found["windowSeconds"] == 60
    assert found["metrics"] == {
        "queue_depth": 0,
        "in_flight_count": 1,
        "consumer_count": 0,
        "claim_rate": 0.5,
        "completion_rate": 0.25,
        "failure_rate": 0,
        "dlq_depth": 0,
        "avg_processing_time": 2_500,
        "timeout_rate": 0,
        "age_of_oldest_item": 125,
        "verified_share": 0,
        "usd_per_verified": None,
        "saturated_consumers": 0,
    }
    assert found["definitions"][0] == {
        "definition": "scrape",
        "costUsd": 1.2345,
        "inputTokens": 12_345,
        "outputTokens": 678,
        "cacheReadTokens": 0,
    }
    assert busy.asked == [("dev", False)]


def test_watching_goes_on_until_it_is_interrupted_which_is_no_failure(
    switchyard: Switchyard, measurer: FakeMeasurer
) -> None:
    measurer.looks = [None, None, KeyboardInterrupt()]

    result = switchyard("metrics", "--watch", "--json")

    assert result.exit_code == 0
    looks = [json.loads(line) for line in result.stdout.splitlines()]
    assert [look["stage"] for look in looks] == ["local", "local"]
    assert result.stderr == ""


def test_where_there_is_no_terminal_every_look_is_printed(
    switchyard: Switchyard, measurer: FakeMeasurer
) -> None:
    measurer.looks = [None, None, KeyboardInterrupt()]

    assert switchyard("metrics", "--watch").stdout.count("queue_depth") == 2


def test_on_a_terminal_the_last_look_stays(
    switchyard: Switchyard, measurer: FakeMeasurer, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100, height=40)
    monkeypatch.setattr(refresh, "results", lambda: terminal)
    measurer.looks = [None, None, KeyboardInterrupt()]

    assert switchyard("metrics", "--watch").exit_code == 0
    drawn = screen.getvalue()
    assert drawn.count("queue_depth") >= 2
    assert "\x1b[1A" in drawn  # it went back up to draw over the first
    assert drawn.rstrip().endswith("\x1b[?25h")  # and gave the cursor back


def test_an_outage_ends_it(switchyard: Switchyard, measurer: FakeMeasurer) -> None:
    measurer.looks = [None, Unavailable("no more")]

    result = switchyard("metrics", "--watch", "--json")

    assert (result.exit_code, len(result.stdout.splitlines())) == (3, 1)
    assert result.stderr.startswith("The numbers of the stage local are out of reach: no more")


@pytest.mark.parametrize("window", ["0", "2881", "long"])
def test_a_window_is_a_minute_or_more_and_no_longer_than_the_counters_live(
    switchyard: Switchyard, window: str
) -> None:
    assert switchyard("metrics", "--window", window).exit_code == 2


def test_a_local_cloud_that_is_down(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    assert switchyard("metrics").exit_code == 3
