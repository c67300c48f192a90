"""What importing the SDK brings along, and what it leaves out."""

import subprocess
import sys

import pytest

pytest.importorskip("switchyard_worker.agents.sdk")


def printed(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout


def test_the_library_for_tools_of_our_own_is_not_imported() -> None:
    program = "import sys, switchyard_worker.agents.claude; print(*sys.modules)"

    imported = {name.partition(".")[0] for name in printed(program).split()}

    assert "claude_agent_sdk" in imported
    assert imported & {"mcp", "mcp_types", "pydantic", "starlette"} == set()


def test_who_needs_the_library_afterwards_gets_the_real_one() -> None:
    program = (
        "import switchyard_worker.agents.sdk; from mcp.types import Tool; "
        "print(Tool(name='look', input_schema={}).name)"
    )

    assert printed(program) == "look\n"
