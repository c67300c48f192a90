"""Readers type the commands of the documentation in order, on the local cloud.

Each page has a reader of its own, and all of them read at the same time: most of a page is waiting.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, SHELL, blocks_of, pages
from tests.docs.shell import lay_out, problems_with
from tests.docs.warm_command import warm_command
from tests.e2e.conftest import RunningCloud, chosen_values

WITH_COMMANDS = [
    page
    for page in pages()
    if any(block.runs for block in blocks_of(page) if block.language in SHELL)
]

Readers = dict[Path, Future[list[str]]]
"""What the reader of each page stumbles over."""


@pytest.fixture(scope="module")
def readers(
    request: pytest.FixtureRequest, cloud: RunningCloud, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Readers]:
    wanted = [page for page in chosen_values(request, "page") if isinstance(page, Path)]
    with warm_command() as switchyard, ThreadPoolExecutor(len(wanted)) as pool:
        yield {
            page: pool.submit(
                problems_with,
                list(blocks_of(page)),
                lay_out(tmp_path_factory.mktemp("reader"), cloud=cloud.folder),
                switchyard,
            )
            for page in wanted
        }


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_work_in_order(page: Path, readers: Readers) -> None:
    problems = readers[page].result()

    assert not problems, "\n\n".join(problems)
