"""What an idle stage costs, as the runbook reckons it, is of the templates and adds up."""

import re
from decimal import Decimal
from typing import Any

import pytest

from stacks.paths import REPOSITORY
from stacks.stage import LOCAL, PROD, Stage
from tests.stacks.synthesized import SynthesizedStage

RUNBOOK = (REPOSITORY / "docs" / "deploy.md").read_text()
TABLE = RUNBOOK.partition("| what | price | dev | prod |\n|---|---|---:|---:|\n")[2]
ROWS = [row.split("|")[1:-1] for row in TABLE.partition("\n\n")[0].splitlines()]


def counted(what: str, stage: Stage) -> int:
    """`what (22 and 23)` of dev and prod, or `what (8)` of both."""
    found = re.search(rf"\| {re.escape(what)} \((\d+)(?: and (\d+))?\)", RUNBOOK)
    assert found is not None
    return int(found[2] if stage is PROD and found[2] else found[1])


def metrics_of(alarm: Any) -> int:
    return sum("MetricStat" in metric for metric in alarm.get("Metrics", ())) or 1


def dollars(cell: str) -> Decimal:
    found = re.search(r"\$([\d.]+)", cell)
    return Decimal(found[1]) if found else Decimal()


@pytest.mark.parametrize("column", [2, 3], ids=["dev", "prod"])
def test_the_rows_add_up(column: int) -> None:
    *amounts, together = (dollars(row[column]) for row in ROWS)
    assert len(amounts) > 10
    assert sum(amounts) == together > 0


def test_what_is_paid_by_the_piece_is_counted_in_the_templates(
    synthesized: SynthesizedStage,
) -> None:
    stage = synthesized.stage
    if stage is LOCAL:  # nobody pays for it
        return
    alarms = synthesized.all("AWS::CloudWatch::Alarm")
    assert sum(map(metrics_of, alarms)) == counted("alarms, by the metrics they watch", stage)
    mappings = len(synthesized.all("AWS::Lambda::EventSourceMapping"))
    assert mappings == counted("event source mappings", stage)
    scheduled = [
        rule for rule in synthesized.all("AWS::Events::Rule") if "ScheduleExpression" in rule
    ]
    assert len(scheduled) == counted("functions on a schedule", stage)
    assert len(synthesized.all("AWS::CloudWatch::Dashboard")) == counted("dashboards", stage)
    assert len(synthesized.all("AWS::EC2::NatGateway")) == (stage is PROD)
    assert not synthesized.all("AWS::KMS::Key")
    assert {
        endpoint["VpcEndpointType"] for endpoint in synthesized.all("AWS::EC2::VPCEndpoint")
    } == {"Gateway"}
