"""The parts of `make image-check` that decide something."""

import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.image import downloads
from tests.image.__main__ import base_of
from tests.image.commands import CommandFailed, output_of
from tests.image.deployment import Deployment
from tests.image.prerequisites import TOOLS, missing
from tests.image.processes import NONE, privileges_in
from tests.image.report import Report, require
from tests.image.runtime_spec import runtime_spec
from tests.image.volumes import fargate_volume

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def test_what_is_missing_is_named_with_the_command_that_installs_it() -> None:
    there = dict.fromkeys(TOOLS, "/usr/bin/tool")
    assert missing(there.get, user_id=0, platform="linux") == []
    (sentence,) = missing({**there, "runc": None}.get, user_id=0, platform="linux")
    assert "Not installed: runc." in sentence
    assert "apt-get install --no-install-recommends runc`" in sentence
    (sentence,) = missing(there.get, user_id=1000, platform="linux")
    assert "sudo make image-check" in sentence
    (sentence,) = missing(there.get, user_id=0, platform="darwin")
    assert "darwin" in sentence


def test_a_failed_check_is_counted_and_the_others_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = Report()
    with report.check("one is one"):
        require(1, 1)
    with report.check("one is two"):
        require(1, 2)
    with report.check("a file is there"):
        Path("/nonexistent").read_text()
    assert report.end() == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok      one is one",
        "FAILED  one is two: found 1, expected 2",
        "FAILED  a file is there: [Errno 2] No such file or directory: '/nonexistent'",
        "1 checks passed, 2 failed",
    ]


def test_a_command_that_failed_shows_its_last_lines() -> None:
    assert output_of(["echo", "words"]) == "words"
    with pytest.raises(CommandFailed, match=r"^sh failed:\nhalf\nwrong$"):
        output_of(["sh", "-c", "echo half; echo wrong >&2; exit 3"])


def test_an_interrupted_command_takes_along_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        output_of(["sh", "-c", f"sleep 60 & echo $! > '{tmp_path}/pid'; kill -INT $PPID; wait"])
    pid = int((tmp_path / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_no_check_at_all_is_no_success() -> None:
    assert Report().end() == 1


def test_the_asset_and_the_container_are_read_from_the_assembly(tmp_path: Path) -> None:
    source = {
        "directory": "asset.1",
        "dockerFile": "switchyard_worker/Dockerfile",
        "platform": "linux/arm64",
    }
    container = {
        "LinuxParameters": {"Capabilities": {"Drop": ["CHOWN", "MKNOD"]}},
        "MountPoints": [{"ContainerPath": "/work"}],
        "HealthCheck": {"Command": ["CMD", "healthy"]},
        "Environment": [{"Name": "STAGE", "Value": "dev"}],
    }
    task = {
        "Type": "AWS::ECS::TaskDefinition",
        "Properties": {"ContainerDefinitions": [container]},
    }
    written: dict[str, Any] = {
        "assets": {"dockerImages": {"1": {"source": source}}},
        "template": {"Resources": {"Task": task, "Other": {"Type": "AWS::SQS::Queue"}}},
    }
    for kind, content in written.items():
        (tmp_path / f"switchyard-dev-consumer.{kind}.json").write_text(json.dumps(content))
    deployment = Deployment(tmp_path)
    assert deployment.asset.folder == tmp_path / "asset.1"
    assert len(deployment.capabilities) == 12
    assert not deployment.capabilities & {"CHOWN", "MKNOD"}
    assert (deployment.volumes, deployment.health_check) == (["/work"], ["healthy"])
    assert deployment.variables == {"STAGE": "dev"}


def test_the_base_is_the_one_that_the_recipe_asks_for() -> None:
    assert base_of("FROM python:3.13.9-slim\n\nRUN true\n") == "python:3.13.9-slim"


def test_pips_settings_are_read_whatever_their_source() -> None:
    listed = "global.timeout='60'\n:env:.cert='/etc/cert.pem'\nuser.target='/opt'\nnonsense\n"
    assert downloads.settings_in(listed) == {"timeout": "60", "cert": "/etc/cert.pem"}


def test_the_container_gets_what_the_task_definition_says_and_nothing_more() -> None:
    spec = runtime_spec(
        root=Path("/root-of-image"),
        arguments=["run"],
        folder="/app",
        environment={"A": "b=c"},
        capabilities={"SETUID", "KILL"},
        read_only=True,
        volumes={"/work": Path("/volumes/work")},
    )
    assert spec["root"] == {"path": "/root-of-image", "readonly": True}
    assert spec["process"]["env"] == ["A=b=c"]
    for granted in spec["process"]["capabilities"].values():
        assert granted == ["CAP_KILL", "CAP_SETUID"]
    assert not spec["process"]["capabilities"].keys() & {"ambient", "inheritable"}
    (volume,) = [mount for mount in spec["mounts"] if mount["type"] == "bind"]
    assert (volume["source"], volume["destination"]) == ("/volumes/work", "/work")
    assert {"type": "network"} not in spec["linux"]["namespaces"]


def test_privileges_are_read_from_the_kernels_text() -> None:
    status = "Name:\tpython\nUid:\t1001\t1002\t1002\t1002\nGid:\t1\t1000\t1\t1\n"
    sets = "CapEff:\t00000000000000a0\nCapBnd:\t0000000000000021\nCapAmb:\t0000000000000000\n"
    found = privileges_in(f"{status}NoNewPrivs:\t1\n{sets}")
    assert (found.user, found.group, found.no_new_privileges) == (1002, 1000, True)
    assert found.capabilities["CapEff"] == {"KILL", "SETUID"}
    assert found.capabilities["CapBnd"] == {"KILL", "0x1"}
    assert found.capabilities["CapAmb"] == NONE


@pytest.fixture
def image(tmp_path: Path) -> Path:
    work = tmp_path / "root" / "work"
    work.mkdir(parents=True)
    os.chown(work, 1001, 1000)
    work.chmod(0o750)
    return tmp_path / "root"


def found_at(volume: Path) -> tuple[int, int, int, list[str]]:
    status = volume.stat()
    names = sorted(path.name for path in volume.iterdir())
    return status.st_uid, status.st_gid, status.st_mode & 0o7777, names


@as_root
def test_a_declared_folder_with_content_keeps_its_owner_and_mode(
    image: Path, tmp_path: Path
) -> None:
    (image / "work" / ".volume").touch()
    volume = fargate_volume(tmp_path / "volume", "/work", root=image, declared={"/work"})
    assert found_at(volume) == (1001, 1000, 0o750, [".volume"])


@as_root
@pytest.mark.parametrize(("declared", "content"), [(set(), True), ({"/work"}, False)])
def test_a_folder_that_is_empty_or_not_declared_becomes_roots(
    image: Path, tmp_path: Path, declared: set[str], content: bool
) -> None:
    if content:
        (image / "work" / ".volume").touch()
    volume = fargate_volume(tmp_path / "volume", "/work", root=image, declared=declared)
    assert found_at(volume) == (0, 0, 0o755, [])
