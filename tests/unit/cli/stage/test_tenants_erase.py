"""`tenants erase`: counts first, deletes when asked to."""

import json

import pytest

from switchyard.domain.access.erasure import TenantItem
from switchyard.usecases.access.erase_tenant import OBJECTS, RULES
from switchyard_cli.commands.stage.tenants_erase import singular_of
from tests.builders import JOB_ID
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.triggers import FakeTriggers

KEY = TenantItem("keys", "TENANT#acme#APIKEYS", "KEY#1")


def test_without_yes_it_counts(switchyard: Switchyard, triggers: FakeTriggers) -> None:
    triggers.items.items = [KEY]
    result = switchyard("tenants", "erase", "acme", "--stage", "dev")
    assert result.stdout.split() == ["1", "API", "key"]
    assert "Nothing was changed: --yes erases it." in result.stderr
    assert "CloudWatch" in result.stderr
    assert triggers.items.items == [KEY]


def test_one_and_several_are_worded_as_such(switchyard: Switchyard, triggers: FakeTriggers) -> None:
    job = f"TENANT#acme#JOB#{JOB_ID}"
    triggers.items.items = [
        KEY,
        TenantItem("keys", "TENANT#acme#APIKEYS", "KEY#2"),
        TenantItem("state", "TENANT#acme#RATE#1", "0"),
        TenantItem("state", job, "DEPENDENTS#a"),
    ]
    result = switchyard("tenants", "erase", "acme", "--stage", "dev")
    assert [line.split(maxsplit=1) for line in result.stdout.splitlines()] == [
        ["2", "API keys"],
        ["1", "dependency"],
        ["1", "request limit"],
    ]


@pytest.mark.parametrize(
    ("kind", "singular"),
    [(OBJECTS, "object in the bucket"), (RULES, "trigger with its rule"), ("jobs", "job")],
)
def test_every_kind_has_a_singular(kind: str, singular: str) -> None:
    assert singular_of(kind) == singular


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
