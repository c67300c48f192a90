"""`definitions push`: every function of a package becomes a definition."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.functions.packages import content_hash, located
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeApi, answer, problem

MODULE = '''
from switchyard.functions import task

print("imported")

@task(timeout="2m", retries=0)
def split(text: str, size: int = 800) -> list[str]:
    """Cut a text into pieces."""

@task(name="count-words")
def count(text: str) -> int: ...
'''


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    name = f"functions_{uuid4().hex}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(MODULE)
    yield folder
    sys.modules.pop(name, None)


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    for number, name in enumerate(("split", "count-words"), start=1):
        found = RegisteredDefinition(
            name=name, version=number, kind="code", function=f"a:{name[:5]}", code_hash="0" * 64
        )
        api.on(f"PUT /task-definitions/{name}", answer(found))
    return api


def sent(request: httpx.Request) -> dict[str, object]:
    document: dict[str, object] = json.loads(request.content)
    return document


def test_every_function_is_registered_with_its_schemas_and_one_hash(
    switchyard: Switchyard, api: FakeApi, package: Path
) -> None:
    result = switchyard("definitions", "push", package)

    assert result.exit_code == 0, result.stderr
    count, split = map(sent, api.requests)
    assert split["function"] == f"{package.name}:split"
    assert split["codeHash"] == count["codeHash"] == content_hash(located(str(package)))
    assert split["timeout"] == 120_000
    assert split["outputSchema"] == {"type": "array", "items": {"type": "string"}}
    code = f"{package.name}@{str(split['codeHash'])[:12]}"
    assert result.stdout.splitlines()[-1] == f"2 functions of {code} registered."


def test_a_dry_run_registers_nothing_and_what_is_imported_may_print(
    switchyard: Switchyard, api: FakeApi, package: Path
) -> None:
    result = switchyard("definitions", "push", package, "--dry-run", "--json")

    assert [found["name"] for found in json.loads(result.stdout)] == ["count-words", "split"]
    assert api.requests == []


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", "has no function that @task marks."),
        ("import no_such_module", "cannot be imported: ModuleNotFoundError: No module named"),
        ("from switchyard.functions import task\n@task(retries=9)\ndef a(): ...", "from 0 to 2."),
    ],
)
def test_a_package_that_cannot_be_pushed_is_explained_in_a_sentence(
    switchyard: Switchyard, package: Path, source: str, sentence: str
) -> None:
    (package / "__init__.py").write_text(source)

    result = switchyard("definitions", "push", package)

    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.exit_code == 2


def test_a_package_that_is_not_there_is_explained(switchyard: Switchyard) -> None:
    result = switchyard("definitions", "push", "./nowhere")

    assert "there is no folder" in result.stderr


def test_what_the_stage_refuses_is_named(
    switchyard: Switchyard, api: FakeApi, package: Path
) -> None:
    refusal = problem(400, "refused", timeout="is too long")
    api.on("PUT /task-definitions/count-words", refusal)

    result = switchyard("definitions", "push", package)

    assert f"{package.name}:count is refused: timeout: is too long." in result.stderr
