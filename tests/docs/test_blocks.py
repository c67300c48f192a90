"""Code blocks of the documentation are what they say, whether they are executed or not."""

import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperGroup

from switchyard_cli.app import app
from switchyard_cli.files.job_file import read_job
from switchyard_cli.files.trigger_file import read_triggers
from tests.docs.pages import FIRST, MARKS, ROOT, SHELL, Block, blocks_of, commands_of, pages

BLOCKS = [block for page in pages() for block in blocks_of(page)]
COMMANDS = [
    (block, command.text)
    for block in BLOCKS
    if block.language in SHELL
    for command in commands_of(block)
]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def of(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def test_the_first_pages_lead_to_the_others() -> None:
    assert {*FIRST, ROOT / "docs" / "deploy.md", ROOT / "docs" / "triggers.md"} <= set(pages())


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_marks_have_known_values(block: Block) -> None:
    for mark, value in block.marks.items():
        allowed = MARKS[mark]
        assert allowed is None or value in allowed, block.place


@pytest.mark.parametrize("block", of("yaml"), ids=lambda block: block.place)
def test_yaml_is_valid(block: Block, tmp_path: Path) -> None:
    content = yaml.safe_load(block.text)
    file = tmp_path / "file.yaml"
    file.write_text(block.text)
    if "triggers" in content:
        assert read_triggers(file).content.triggers
    elif {"name", "tasks"} <= set(content):
        assert read_job(file).content.tasks


@pytest.mark.parametrize("block", of("python"), ids=lambda block: block.place)
def test_python_compiles(block: Block) -> None:
    compile(block.text, block.place, "exec")


@pytest.mark.parametrize(
    ("block", "command"), COMMANDS, ids=lambda part: getattr(part, "place", "")
)
def test_commands_and_targets_exist(block: Block, command: str) -> None:
    for words in _simple_commands(command):
        if words[0] == "make":
            targets = [word for word in words[1:] if "=" not in word]
            assert set(targets) <= TARGETS, block.place
        elif words[0] == "switchyard":
            _check(words[1:], block.place)


def _simple_commands(command: str) -> list[list[str]]:
    """Split a line at pipes, substitutions and comments; good enough for what pages show."""
    parts = re.split(r"\$\(|\||&&|;|\)", re.sub(r"\\\n", " ", command))
    found = []
    for part in parts:
        try:
            words = shlex.split(part, comments=True)
        except ValueError:  # a quotation that was split
            words = part.split()
        if words:
            found.append(words)
    return found


def _check(words: list[str], place: str) -> None:
    command = typer.main.get_command(app)
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        found = command.get_command(typer.Context(command), words[0])
        assert found, f"{place}: there is no command {words[0]}"
        command, words = found, words[1:]
    known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    for word in words:
        if word.startswith("-"):
            assert word.partition("=")[0] in known, f"{place}: there is no option {word}"
