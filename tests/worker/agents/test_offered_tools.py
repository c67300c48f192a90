"""The tools that a dry run knows are those that Claude Code offers, which is asked itself."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from switchyard_cli.files.static_checks import KNOWN_TOOLS, OTHER_NAMES, TOOLS

SDK = find_spec("claude_agent_sdk")  # not imported: that takes a second of each process
NOWHERE = "http://127.0.0.1:9"
"""The first line is printed before a request is sent, and nothing listens here."""


def offered(folder: Path, *options: str) -> set[str]:
    """Return the tools that Claude Code lists when it starts, without reaching a network."""
    environment = {
        "HOME": str(folder),
        "PATH": "/usr/bin:/bin",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": NOWHERE,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }
    assert SDK is not None
    assert SDK.origin is not None
    program = Path(SDK.origin).parent / "_bundled" / "claude"
    command = [str(program), "-p", "--verbose", "--output-format", "stream-json", *options]
    ended = subprocess.run(
        command,
        check=False,  # it fails, since nothing answers
        cwd=folder,
        env=environment,
        input=b"hello",
        capture_output=True,
        timeout=60,
    )
    start = json.loads(ended.stdout.splitlines()[0])
    assert start["subtype"] == "init"
    return set(start["tools"])


@pytest.mark.slow
def test_every_tool_that_a_dry_run_knows_is_offered(tmp_path: Path) -> None:
    assert offered(tmp_path, "--tools", ",".join(TOOLS)) == set(TOOLS)


@pytest.mark.slow
def test_every_tool_that_is_offered_unasked_is_known(tmp_path: Path) -> None:
    assert offered(tmp_path) <= set(KNOWN_TOOLS)


@pytest.mark.slow
@pytest.mark.long
def test_other_names_are_accepted(tmp_path: Path) -> None:
    assert offered(tmp_path, "--tools", ",".join(OTHER_NAMES)) == {"Task", "TaskStop"}
