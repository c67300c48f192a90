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
    triggers.items.items = [KEY, TenantItem("state", "TENANT#acme#OPEN", "job-1")]
    result = switchyard("tenants", "erase", "acme", "--stage", "dev", "--yes")
    assert result.exit_code != 0
    assert "acme has open jobs (1): cancel them first" in result.stderr
    assert KEY in triggers.items.items
