"""`keys issue`: the key alone on stdout, so that a shell can catch it."""

import json

import pytest

from switchyard.domain.errors import Unavailable
from tests.unit.cli.conftest import NewDeployedKey, Switchyard
from tests.unit.cli.fakes import FakeCloud


def refused_because(reason: str) -> NewDeployedKey:
    def refuse(tenant: str, stage: str) -> str:
        raise Unavailable(reason)

    return refuse


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ([], "swy.acme.from-local"),
        (["--stage", "dev"], "swy.acme.from-dev"),
        (["--stage", "prod"], "swy.acme.from-prod"),
    ],
    ids=["local", "dev", "prod"],
)
def test_the_key_is_all_there_is_on_stdout(
    options: list[str], key: str, switchyard: Switchyard
) -> None:
    result = switchyard("keys", "issue", "acme", *options)

    assert result.stdout == f"{key}\n"
    assert result.stderr == "This key of the tenant acme is not shown again.\n"
    assert result.exit_code == 0


def test_json_says_whose_and_where(switchyard: Switchyard) -> None:
    result = switchyard("keys", "issue", "acme", "--stage", "dev", "--json")

    issued = json.loads(result.stdout)
    assert issued == {"tenant": "acme", "stage": "dev", "key": "swy.acme.from-dev"}


@pytest.mark.parametrize("tenant", ["Acme", "acme inc", "", "a" * 64, "-acme", "acme\n"])
def test_a_name_that_no_tenant_can_have(tenant: str, switchyard: Switchyard) -> None:
    result = switchyard("keys", "issue", "--", tenant)

    assert "cannot name a tenant" in result.stderr
    assert result.stdout == ""
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "new_deployed_key", [refused_because("You must specify a region.")], ids=["no region"]
)
def test_a_stage_that_is_out_of_reach(switchyard: Switchyard) -> None:
    result = switchyard("keys", "issue", "acme", "--stage", "dev")

    assert result.stderr.startswith(
        "No key could be issued for the stage dev: You must specify a region. Is the stage deployed"
    )
    assert result.stdout == ""
    assert result.exit_code == 3


def test_a_local_cloud_that_is_down(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    result = switchyard("keys", "issue", "acme")

    assert result.stderr.startswith("The local cloud is not running")
    assert result.exit_code == 3
