"""Attacks on what the worker reads and writes below a task's folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.exchanged_folders import CANARY

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names in one step")
def test_folders_that_are_exchanged_with_links_reveal_nothing_of_the_worker(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.security.exchanged_folders", tmp_path],
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": "layers/shared/python:.",
            "SECRET": CANARY,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout.splitlines()[-1])
    assert report["uploaded"] > 0
    assert report["revealed"] == 0
