"""The image's recipe; `make worker-image` builds it with Docker, `make image-check` without."""

import json
import re
from pathlib import Path

import pytest

from switchyard_worker.parent.files.users import slot_users

FOLDER = Path(__file__).parents[2] / "switchyard_worker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
AGENTS = (FOLDER.parent / "docs" / "agents.md").read_text()
ENTRYPOINT = (FOLDER / "entrypoint.sh").read_text()


def only(pattern: str, text: str) -> str:
    (found,) = re.findall(pattern, text, re.MULTILINE)
    return str(found)


def test_its_base_is_slim_and_pinned() -> None:
    assert re.fullmatch(r"python:3\.13\.\d+-slim-bookworm", only(r"^FROM (.*)$", DOCKERFILE))


@pytest.mark.parametrize("instruction", ["ENTRYPOINT", "CMD", r"  CMD"])
def test_no_shell_stands_between_a_signal_and_the_worker(instruction: str) -> None:
    words = json.loads(only(rf"^{instruction} (.*)$", DOCKERFILE))
    assert words[0] in {"/app/switchyard_worker/entrypoint.sh", "python"}


def test_the_entrypoint_becomes_what_it_was_told_to_run() -> None:
    assert only(r"^(exec) setpriv", ENTRYPOINT)
    assert ENTRYPOINT.endswith('-- "$@"\n')


def test_users_are_named_alike_by_all_who_name_them() -> None:
    group = only(r"groupadd --gid (\d+) switchyard", DOCKERFILE)
    worker = only(r"useradd --uid (\d+) --gid switchyard .* worker \\$", DOCKERFILE)
    first, last = only(r"in \$\(seq (\d+ \d+)\)", DOCKERFILE).split()
    assert only(r"AGENT_USERS=(\S+)", DOCKERFILE) == f"{first}-{last}"
    assert len(slot_users({"AGENT_USERS": f"{first}-{last}"})) == 32
    assert int(worker) < int(first) - 1
    assert f"--reuid={worker} --regid={group} " in ENTRYPOINT


def test_everything_that_it_copies_is_in_the_build_context() -> None:
    sources = re.findall(r"^COPY (\S+)", DOCKERFILE, re.MULTILINE)
    ignored = (FOLDER.parent / ".dockerignore").read_text()
    stored = [line.removeprefix("!") for line in ignored.splitlines() if line.startswith("!")]
    assert sources
    for source in sources:
        assert (FOLDER.parent / source).exists()
        assert any(source.rstrip("/") == k or source.startswith(f"{k}/") for k in stored)


def test_tools_are_installed_alone_and_package_lists_are_removed() -> None:
    install = instruction_with("apt-get install")
    assert "apt-get update" in install
    assert "--no-install-recommends" in install
    assert install.endswith("rm -rf /var/lib/apt/lists/*")


def test_agents_find_the_tools_that_the_documentation_names() -> None:
    section = AGENTS.partition("\n## What an agent finds in its shell\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE))
    words = instruction_with("apt-get install").partition("--no-install-recommends")[2].split()
    assert set(words[: words.index("&&")]) == documented
    assert {"git", "curl", "ca-certificates"} <= documented


def test_git_knows_who_commits() -> None:
    setting = re.compile(r"git config --system (\S+) (.+?)(?: \\)?$", re.MULTILINE)
    settings = dict(setting.findall(DOCKERFILE))
    assert settings.keys() == {"init.defaultBranch", "user.name", "user.email"}
    assert settings["user.email"].endswith(".invalid")


@pytest.mark.parametrize(
    ("folder", "owner_and_mode"),
    [(folder, "--owner worker --group switchyard --mode 0755 ") for folder in ("/work", "/tmp")],
)
def test_a_volumes_folder_has_its_owner_and_a_file_before_it_is_declared(
    folder: str, owner_and_mode: str
) -> None:
    """Fargate copies them from the image only then."""
    before, _, after = DOCKERFILE.partition("\nVOLUME ")
    assert folder in json.loads(after.partition("\n")[0])
    assert f"install --directory {owner_and_mode}{folder} " in before
    file = rf"install --owner worker --group switchyard --mode 0644 /dev/null {folder}/\.\w+( \\)?$"
    assert re.search(file, before, re.MULTILINE)


def test_the_worker_has_a_home_and_the_agent_none_but_its_tasks() -> None:
    assert only(r"useradd .* --home-dir (\S+) .*worker \\$", DOCKERFILE) == "/work"
    assert only(r"useradd .* --home-dir (\S+) \"agent\$id\"", DOCKERFILE) == "/nonexistent"
    assert only(r"^ENV .*\bHOME=(\S+)", DOCKERFILE) == "/work"


def instruction_with(words: str) -> str:
    (found,) = [each for each in re.split(r"(?<!\\)\n", DOCKERFILE) if words in each]
    return found.replace("\\\n", " ").rstrip()
