"""`make deploy` needs no terminal, and runs a task in what it has deployed."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def recipe(*variables: str) -> str:
    """What make would run."""
    found = subprocess.run(
        ["make", "--dry-run", "deploy", "STAGE=dev", *variables],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout


def test_a_deployment_asks_nobody_and_is_followed_by_the_smoke_check() -> None:
    _, deploying, afterwards = recipe().partition("cdk deploy --all --require-approval never")
    assert deploying
    assert 'if [ "yes" = no ]' in afterwards
    assert '-m switchyard_cli smoke --stage "dev"' in afterwards


def test_the_smoke_check_can_be_left_out_and_that_is_said() -> None:
    afterwards = recipe("SMOKE=no").partition("cdk deploy")[2]
    assert 'if [ "no" = no ]' in afterwards
    assert "No smoke check (SMOKE=no). Later: switchyard smoke --stage dev" in afterwards
