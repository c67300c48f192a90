"""Writes what commands print today into a page: `python -m tests.docs.rewrite docs/tour.md`.

The local cloud has to be up. Only what follows a prompt (`$ `) is replaced.
"""

import re
import sys
import tempfile
from pathlib import Path

from tests.docs.pages import ROOT, blocks_of
from tests.docs.shell import lay_out, run_in_order


def rewrite(page: Path, *, cloud: Path) -> None:
    blocks = list(blocks_of(page))
    with tempfile.TemporaryDirectory() as folder:
        steps, printed = run_in_order(blocks, lay_out(Path(folder), cloud=cloud))
    if len(printed) < len(steps):
        sys.exit(f"{steps[len(printed)].block.place} was not reached.")
    text = page.read_text()
    for block in blocks:
        ran = [
            (step.command, lines)
            for step, (lines, _) in zip(steps, printed, strict=True)
            if step.block is block
        ]
        if ran and block.text.startswith("$ "):
            text = text.replace(block.text, _as_shown(ran, cloud), 1)
    page.write_text(text)


def _as_shown(ran: list[tuple[str, list[str]]], cloud: Path) -> str:
    shown = []
    for command, lines in ran:
        shown += [f"$ {command}", *(_shortened(line, cloud) for line in lines)]
    return "\n".join(shown) + "\n"


def _shortened(line: str, cloud: Path) -> str:
    with_bucket = line.replace(f"{cloud}/", ".switchyard/").rstrip()
    return re.sub(r"switchyard-local-infrastructure-\w+", "switchyard-local-…", with_bucket)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(ROOT / name, cloud=ROOT / ".switchyard")
