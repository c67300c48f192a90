from pathlib import Path
from zipfile import ZipFile

import pytest

from stacks.dependencies import bundle_dependencies
from stacks.errors import LayerNotBuilt
from tests.stacks.this_host import THIS_HOST


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    file = tmp_path / "requirements.txt"
    file.write_text(str(a_wheel(tmp_path)))
    return file


def a_wheel(folder: Path) -> Path:
    wheel = folder / "tiny-1-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "")
        for service in ("dynamodb", "braket"):
            archive.writestr(f"botocore/data/{service}/service-2.json", "{}")
        archive.writestr("botocore/data/endpoints.json", "{}")
        archive.writestr(
            "tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1"
        )
        archive.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any")
        archive.writestr("tiny-1.dist-info/RECORD", "")
    return wheel


def test_the_layer_is_laid_out_as_lambda_imports_it(requirements: Path, tmp_path: Path) -> None:
    layer = bundle_dependencies(THIS_HOST, requirements=requirements, cache=tmp_path / "cache")
    assert (layer / "python" / "tiny.py").is_file()


def test_only_services_that_functions_call_are_described(
    requirements: Path, tmp_path: Path
) -> None:
    layer = bundle_dependencies(THIS_HOST, requirements=requirements, cache=tmp_path / "cache")
    stored = {path.name for path in (layer / "python" / "botocore" / "data").iterdir()}
    assert stored == {"dynamodb", "endpoints.json"}


def test_the_same_requirements_are_installed_once(requirements: Path, tmp_path: Path) -> None:
    first = bundle_dependencies(THIS_HOST, requirements=requirements, cache=tmp_path / "cache")
    (tmp_path / "tiny-1-py3-none-any.whl").unlink()
    second = bundle_dependencies(THIS_HOST, requirements=requirements, cache=tmp_path / "cache")
    assert second == first


def test_an_index_that_does_not_answer_is_named_and_leaves_nothing_behind(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("not-in-any-cache==1")
    with pytest.raises(LayerNotBuilt, match="does the package index answer"):
        bundle_dependencies(THIS_HOST, requirements=requirements, cache=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
