"""Whose processes the children are. As root, the container's two changes of user really happen."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from worker.privileges import (
    NotAllowed,
    as_agent_user,
    check_agent_user,
    effective_capabilities,
)

ENTRYPOINT = Path(__file__).parents[2] / "worker" / "entrypoint.sh"
AGENT = {"AGENT_USER": "1002:1000"}
ALL_THREE = 0b1110_0000

as_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can change users"
)


def in_the_container(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A shell in place of the worker; `$AS_AGENT` starts a command as the worker starts a child."""
    return subprocess.run(
        ["/bin/sh", ENTRYPOINT, "/bin/sh", "-c", script],
        env={
            "PATH": "/usr/bin:/bin",
            "AS_AGENT": " ".join(as_agent_user([], AGENT)),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def status(text: str) -> dict[str, str]:
    lines = (line.partition(":") for line in text.splitlines())
    return {name: " ".join(value.split()) for name, _, value in lines}


def test_without_an_agent_user_children_are_the_workers_own() -> None:
    assert as_agent_user(["python", "-V"], {}) == ["python", "-V"]
    assert as_agent_user(["python", "-V"], {"AGENT_USER": ""}) == ["python", "-V"]
    check_agent_user({}, capabilities=0)


def test_a_command_cannot_pass_for_an_option() -> None:
    command = as_agent_user(["--reuid=0"], AGENT)
    assert command[-2:] == ["--", "--reuid=0"]


@pytest.mark.parametrize("user", ["agent", "1002", "1002:1000\n", "0x0:0", "-1:1000"])
def test_a_user_of_another_form_is_refused(user: str) -> None:
    with pytest.raises(NotAllowed, match="AGENT_USER is"):
        as_agent_user(["true"], {"AGENT_USER": user})
    with pytest.raises(NotAllowed, match="AGENT_USER is"):
        check_agent_user({"AGENT_USER": user}, capabilities=ALL_THREE)


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [(0, "KILL, SETGID, SETUID"), (ALL_THREE ^ 1 << 5, "KILL"), (1 << 5, "SETGID, SETUID")],
)
def test_a_worker_that_cannot_change_users_does_not_start(capabilities: int, missing: str) -> None:
    with pytest.raises(NotAllowed, match=f"capabilities {missing} that"):
        check_agent_user(AGENT, capabilities=capabilities)
    check_agent_user(AGENT, capabilities=ALL_THREE)


def test_capabilities_are_read_from_the_kernels_file(tmp_path: Path) -> None:
    file = tmp_path / "status"
    assert effective_capabilities(file) == 0
    file.write_text("CapPrm:\t00000000000000ff\nCapEff:\t00000000000000e0\nCapBnd:\t0000\n")
    assert effective_capabilities(file) == ALL_THREE


@as_root
def test_the_worker_is_an_ordinary_user_with_three_capabilities() -> None:
    worker = status(in_the_container("cat /proc/self/status").stdout)
    assert (worker["Uid"], worker["Gid"]) == ("1001 1001 1001 1001", "1000 1000 1000 1000")
    assert worker["Groups"] == ""
    for held in ("CapEff", "CapPrm", "CapAmb", "CapBnd"):
        assert int(worker[held], 16) == ALL_THREE


@as_root
def test_a_child_is_another_user_without_any_capability() -> None:
    child = status(in_the_container("$AS_AGENT cat /proc/self/status").stdout)
    assert (child["Uid"], child["Gid"]) == ("1002 1002 1002 1002", "1000 1000 1000 1000")
    assert child["Groups"] == ""
    assert child["NoNewPrivs"] == "1"
    for held in ("CapEff", "CapPrm", "CapAmb", "CapInh"):
        assert int(child[held], 16) == 0


@as_root
def test_a_child_cannot_read_the_workers_environment() -> None:
    spying = in_the_container('$AS_AGENT cat "/proc/$$/environ"', AWS_SECRET="canary")
    assert spying.returncode != 0
    assert "canary" not in spying.stdout
    assert "canary" in in_the_container('cat "/proc/$$/environ"', AWS_SECRET="canary").stdout


@as_root
def test_a_child_cannot_change_back() -> None:
    back = in_the_container("$AS_AGENT setpriv --reuid=1001 --keep-groups true")
    assert back.returncode != 0
    assert "not permitted" in back.stderr


@as_root
def test_the_worker_can_end_a_child_and_the_child_not_the_worker() -> None:
    ended = in_the_container("$AS_AGENT sleep 60 & kill -KILL $!; wait $!; echo $?")
    assert ended.stdout == "137\n"
    refused = in_the_container('$AS_AGENT /bin/sh -c "kill -KILL $$"; echo alive')
    assert refused.stdout == "alive\n"


@as_root
def test_worker_and_child_read_and_remove_each_others_files() -> None:
    script = (
        'cd "$FOLDER" && echo in > task.json && $AS_AGENT /bin/sh -c '
        '"cat task.json && mkdir made && echo out > made/result" && cat made/result && rm -r made'
    )
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lets nobody else pass
        os.chown(folder, 1001, 1000)
        Path(folder).chmod(0o770)
        done = in_the_container(script, FOLDER=folder)
    assert (done.stdout, done.stderr) == ("in\nout\n", "")
