"""`cdk deploy` as people type it: with the packages of `requirements.txt`, and no link to us."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_app_synthesizes_where_only_the_requirements_are_installed(tmp_path: Path) -> None:
    """`-S` leaves out what links this repository into the virtual environment."""
    cdk = json.loads((ROOT / "cdk.json").read_text())
    python, *arguments = cdk["app"].split()
    assert python == "python3", "the active virtual environment's"
    context = {**cdk["context"], "stage": "local"}
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],  # jsii unpacks the CDK's library there, once
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "CDK_CONTEXT_JSON": json.dumps(context),
        "CDK_OUTDIR": str(tmp_path / "out"),
        "CDK_VALIDATION": "false",
    }
    app = [sys.executable, "-S", *arguments]
    done = subprocess.run(
        app, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("switchyard-local-*.template.json"))) == 6
