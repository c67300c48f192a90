"""`tenants erase`: counts first, deletes when asked to."""

import json

from switchyard.domain.access.erasure import TenantItem
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.triggers import FakeTriggers

KEY = TenantItem("keys", "TENANT#acme#APIKEYS", "KEY#1")


def test_without_yes_it_counts(switchyard: Switchyard, triggers: FakeTriggers) -> None:
    triggers.items.items = [KEY]
    result = switchyard("tenants", "erase", "acme", "--stage", "dev")
    assert result.stdout.split() == ["1", "API", "keys"]
    assert "Nothing was changed: --yes erases it." in result.stderr
    assert "CloudWatch" in result.stderr
    assert triggers.items.items == [KEY]


def test_with_yes_it_erases_and_reports(switchyard: Switchyard, triggers: FakeTriggers) -> None:
    triggers.items.items = [KEY]
    result = switchyard("tenants", "erase", "acme", "--stage", "dev", "--yes", "--json")
    report = json.loads(result.stdout)
    assert (report["erased"], report["counts"]) == (True, {"API keys": 1})
    assert triggers.items.items == []


def test_open_jobs_are_in_the_way(switchyard: Switchyard, triggers: FakeTriggers) -> None:
    jobs = [TenantItem("state", "TENANT#acme#OPEN", f"job-{number}") for number in range(5)]
    triggers.items.items = [KEY, *jobs]
    result = switchyard("tenants", "erase", "acme", "--stage", "dev", "--yes")
    assert result.exit_code == 2
    assert (
        "acme has 5 open jobs, and nothing was erased: job-0, job-1, job-2 and 2" in result.stderr
    )
    assert "`switchyard cancel JOB --wait --stage dev`" in result.stderr
    assert "`switchyard keys issue acme --stage dev`" in result.stderr
    assert KEY in triggers.items.items
