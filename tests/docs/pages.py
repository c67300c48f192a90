"""Reads the code blocks of the documentation, with the marks that readers do not see.

A mark is an HTML comment on the line above a block, or above another mark:

    <!-- run: needs-aws -->        the block is not executed, for this reason
    <!-- run: fails -->            its last command exits with a code other than 0
    <!-- file: shop.yaml -->       the block is what readers save under this name
    <!-- output: compared -->      what follows a command is what it prints
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FIRST: Final = (ROOT / "README.md", ROOT / "docs" / "tour.md")
NOT_RUN: Final = frozenset(
    {"needs-aws", "needs-docker", "needs-key", "needs-person", "takes-minutes"}
)
SHELL: Final = frozenset({"console", "sh", "bash", "shell"})
MARKS: Final = {
    "run": NOT_RUN | {"fails"},
    "output": frozenset({"compared"}),
    "file": None,
}
"""Which values each mark may have; None: any."""

_FENCE: Final = re.compile(r"(`{3,})(\w*)")
_MARK: Final = re.compile(r"<!-- (run|file|output): (\S+) -->")
_LINK: Final = re.compile(r"\]\(([^)#\s]+\.md)")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.marks.get("run") not in NOT_RUN


@dataclass(frozen=True)
class Command:
    text: str
    output: list[str]
    """What the page shows of it."""


def pages() -> list[Path]:
    """Return the first pages and every page of the repository that one of them links to."""
    found = list(FIRST)
    for page in FIRST:
        for link in _LINK.findall(page.read_text()):
            linked = (page.parent / link).resolve()
            if linked not in found and linked.is_relative_to(ROOT):
                found.append(linked)
    return found


def blocks_of(page: Path) -> Iterator[Block]:
    marks: dict[str, str] = {}
    lines = iter(enumerate(page.read_text().splitlines(), start=1))
    for number, line in lines:
        if mark := _MARK.fullmatch(line):
            marks[mark[1]] = mark[2]
        elif fence := _FENCE.fullmatch(line):
            body = []
            for _, inner in lines:
                if inner == fence[1]:
                    break
                body.append(inner)
            yield Block(page, number, fence[2], "\n".join(body) + "\n", marks)
            marks = {}
        else:
            marks = {}


def commands_of(block: Block) -> list[Command]:
    """Return the lines after prompts with what follows them, or every line where none has one."""
    lines = block.text.splitlines()
    prompts = any(line.startswith("$ ") for line in lines)
    found: list[Command] = []
    continues = False
    for line in lines:
        if continues:
            found[-1] = Command(f"{found[-1].text}\n{line}", [])
        elif prompts and not line.startswith("$ "):
            found[-1].output.append(line)
            continue
        elif line.strip() and not line.startswith("#"):
            found.append(Command(line.removeprefix("$ "), []))
        continues = line.endswith("\\")
    return found
