"""The page about retention has the periods that the stages deploy."""

import re

import pytest
from aws_cdk.aws_logs import RetentionDays

from stacks.constructs.queue import KEPT_FOR
from stacks.stage import STAGES
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "retention.md").read_text()
COLUMNS = ("local", "dev", "prod")
LOGS = {
    RetentionDays.ONE_DAY: "1 day",
    RetentionDays.TWO_WEEKS: "2 weeks",
    RetentionDays.THREE_MONTHS: "3 months",
}


def row(data: str) -> dict[str, str]:
    found = re.search(rf"^\| {data}.*\|$", PAGE, re.MULTILINE)
    assert found, data
    _, _, _, *cells = (cell.strip() for cell in found[0].split("|"))
    return dict(zip(COLUMNS, cells, strict=False))


@pytest.mark.parametrize("name", COLUMNS)
def test_the_page_has_the_periods_of_a_stage(name: str) -> None:
    stage = STAGES[name]

    assert row("files, logs and traces")[name] == f"{stage.artifacts_retention_days} days"
    assert row("parked messages")[name] == f"{stage.artifacts_retention_days} days"
    assert row("larger inputs")[name] == f"{stage.artifacts_retention_days} days"
    assert row("events")[name] == f"{stage.events_retention_days} days"
    archive = "none" if stage.archive_days is None else f"{stage.archive_days} days"
    assert row("archive of events")[name] == archive
    assert row("logs of functions")[name] == LOGS[stage.log_retention]
    assert row("messages in queues")[name] == f"{KEPT_FOR.to_days():.0f} days"
