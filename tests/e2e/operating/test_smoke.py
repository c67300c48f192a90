"""The smoke check on the deployed system, as `make deploy` runs it."""

import json
from dataclasses import replace

from typer.testing import CliRunner

from switchyard.bootstrap import stage_keys
from switchyard.domain.ids import SMOKE_TENANT
from switchyard_cli.actions.smoke_check import Step
from switchyard_cli.app import app
from switchyard_cli.wiring import real_services
from tests.e2e.conftest import RunningCloud


def test_a_stage_that_works_passes_and_no_key_is_left(cloud: RunningCloud) -> None:
    services = replace(real_services(), cloud=cloud.local)

    result = CliRunner().invoke(app, ["smoke", "--json", "--timeout", "60"], obj=services)

    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert [step["step"] for step in report["steps"]] == [*Step]
    with stage_keys("local", **cloud.endpoint.connection) as keys:
        assert all(key.revoked_at_ms is not None for key in keys.all(SMOKE_TENANT))
    with cloud.http as http:  # another tenant's
        assert http.get(f"/jobs/{report['jobId']}").status_code == 404
