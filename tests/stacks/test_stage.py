import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.errors import UnknownStage
from stacks.paths import REPOSITORY
from stacks.stage import STAGES, stage_named


def test_every_stage_is_found_by_its_name() -> None:
    assert {name: stage_named(name).name for name in ("local", "dev", "prod")} == {
        "local": "local",
        "dev": "dev",
        "prod": "prod",
    }


def test_an_unknown_stage_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownStage, match=r"no stage 'nope'; the stages are local, dev, prod"):
        stage_named("nope")


def test_there_is_no_default_stage() -> None:
    with pytest.raises(UnknownStage, match=r"no stage was given.*local, dev, prod"):
        stage_named(None)


def test_only_prod_keeps_its_data_when_a_stack_is_deleted() -> None:
    keeping = [name for name, stage in STAGES.items() if stage.removal_policy.name != "DESTROY"]
    assert keeping == ["prod"]


@pytest.mark.parametrize("context", [{"stage": "nope"}, {}])
def test_the_app_ends_with_a_sentence_instead_of_a_traceback(
    context: dict[str, str], tmp_path: Path
) -> None:
    cdk_environment = {"CDK_CONTEXT_JSON": json.dumps(context), "CDK_OUTDIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "app.py"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **cdk_environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("switchyard: ")
    assert "local, dev, prod" in ended.stderr
    assert "Traceback" not in ended.stderr
