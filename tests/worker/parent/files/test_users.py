"""Users of the children's processes. As root, the container's two changes of user really happen."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from switchyard_worker.parent.files.users import (
    NotAllowed,
    SlotUser,
    SlotUsers,
    as_user,
    check_users,
    effective_capabilities,
    slot_users,
)

ENTRYPOINT = Path(__file__).parents[4] / "switchyard_worker" / "entrypoint.sh"
AGENT = SlotUser(30_002)
USERS = {"AGENT_USERS": "30000-30003"}
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
            "AS_AGENT": " ".join(as_user([], AGENT, folder=Path("/"))),
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


def checked(host: Mapping[str, str], **facts: Any) -> None:
    check_users(host, **{"capabilities": ALL_THREE, "slots": 3, "deletes_files": True} | facts)


def test_without_users_of_their_own_children_are_the_workers() -> None:
    assert as_user(["python", "-V"], None, folder=Path("/")) == ["python", "-V"]
    assert not slot_users({"AGENT_USERS": ""})
    assert SlotUsers({}).take() is None
    checked({}, capabilities=0, deletes_files=False)


def test_a_command_is_started_in_a_folder_that_only_its_user_can_enter() -> None:
    command = as_user(["program", "--option"], AGENT, folder=Path("/work/a"))
    assert command[-4:] == ["env", "--chdir=/work/a", "program", "--option"]


@pytest.mark.parametrize("text", ["agent", "20000", "20000-", "0-3", "20003-20000", "2000-2003\n"])
def test_users_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(NotAllowed, match=r"AGENT_USERS is .* has the form 20000-20031"):
        slot_users({"AGENT_USERS": text})


def test_the_variable_of_before_is_refused_rather_than_ignored() -> None:
    with pytest.raises(NotAllowed, match="set AGENT_USERS"):
        checked({"AGENT_USER": "1002:1000"})


def test_each_attempt_has_a_user_that_no_other_has() -> None:
    users = SlotUsers(slot_users({"AGENT_USERS": "30000-30001"}))
    first, second = users.take(), users.take()
    assert (first, second) == (SlotUser(30_000), SlotUser(30_001))
    with pytest.raises(OSError, match="every user of AGENT_USERS is in use"):
        users.take()
    users.give_back(second)
    assert users.take() == second


@pytest.mark.parametrize("number", [0, 1, 1001, 1999, os.getuid(), os.geteuid()])
def test_neither_root_nor_this_process_can_pass_for_a_tasks_user(number: int) -> None:
    """All files and processes of a task's user are removed."""
    with pytest.raises(NotAllowed, match="cannot be a task's"):
        SlotUser(number)


def test_more_slots_than_users_are_refused() -> None:
    checked(USERS, slots=4)
    with pytest.raises(NotAllowed, match=r"MAX_CONCURRENT_CLAUDE is 5, .* names 4 users"):
        checked(USERS, slots=5)


def test_folders_that_stay_would_be_the_next_tasks_to_read() -> None:
    with pytest.raises(NotAllowed, match="DELETE_FILES_AFTER_UPLOAD is false"):
        checked(USERS, deletes_files=False)


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [(0, "KILL, SETGID, SETUID"), (ALL_THREE ^ 1 << 5, "KILL"), (1 << 5, "SETGID, SETUID")],
)
def test_a_worker_that_cannot_change_users_does_not_start(capabilities: int, missing: str) -> None:
    with pytest.raises(NotAllowed, match=f"capabilities {missing} that"):
        checked(USERS, capabilities=capabilities)
    checked(USERS)


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
    assert (child["Uid"], child["Gid"]) == ("30002 30002 30002 30002",) * 2
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
