"""Readers type the commands of the documentation in order, on the local cloud."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, SHELL, blocks_of, pages
from tests.docs.shell import lay_out, problems_with
from tests.docs.warm_command import warm_command
from tests.e2e.conftest import RunningCloud

WITH_COMMANDS = [
    page
    for page in pages()
    if any(block.runs for block in blocks_of(page) if block.language in SHELL)
]


@pytest.fixture(scope="module")
def switchyard() -> Iterator[Path]:
    with warm_command() as programs:
        yield programs


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_work_in_order(
    page: Path, cloud: RunningCloud, switchyard: Path, tmp_path: Path
) -> None:
    clone = lay_out(tmp_path, cloud=cloud.folder)

    problems = problems_with(list(blocks_of(page)), clone, switchyard)

    assert not problems, "\n\n".join(problems)
