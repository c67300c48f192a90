"""The image's recipe; `make worker-image` builds it where a Docker engine answers."""

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "worker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
ENTRYPOINT = (FOLDER / "entrypoint.sh").read_text()


def only(pattern: str, text: str) -> str:
    (found,) = re.findall(pattern, text, re.MULTILINE)
    return str(found)


def test_its_base_is_slim_and_pinned() -> None:
    assert re.fullmatch(r"python:3\.13\.\d+-slim-bookworm", only(r"^FROM (.*)$", DOCKERFILE))


@pytest.mark.parametrize("instruction", ["ENTRYPOINT", "CMD", r"  CMD"])
def test_no_shell_stands_between_a_signal_and_the_worker(instruction: str) -> None:
    words = json.loads(only(rf"^{instruction} (.*)$", DOCKERFILE))
    assert words[0] in {"/app/worker/entrypoint.sh", "python"}


def test_the_entrypoint_becomes_what_it_was_told_to_run() -> None:
    assert only(r"^(exec) setpriv", ENTRYPOINT)
    assert ENTRYPOINT.endswith('-- "$@"\n')


def test_users_are_named_alike_by_all_who_name_them() -> None:
    group = only(r"groupadd --gid (\d+) yard", DOCKERFILE)
    worker = only(r"useradd --uid (\d+) --gid yard .* worker \\$", DOCKERFILE)
    agent = only(r"useradd --uid (\d+) --gid yard .* agent$", DOCKERFILE)
    assert worker != agent
    assert only(r"AGENT_USER=(\S+)", DOCKERFILE) == f"{agent}:{group}"
    assert f"--reuid={worker} --regid={group} " in ENTRYPOINT


def test_everything_that_it_copies_is_in_the_build_context() -> None:
    sources = re.findall(r"^COPY (\S+)", DOCKERFILE, re.MULTILINE)
    ignored = (FOLDER.parent / ".dockerignore").read_text()
    kept = [line.removeprefix("!") for line in ignored.splitlines() if line.startswith("!")]
    assert sources
    for source in sources:
        assert (FOLDER.parent / source).exists()
        assert any(source.rstrip("/") == k or source.startswith(f"{k}/") for k in kept)
