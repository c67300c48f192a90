import stat
from pathlib import Path

import pytest

from switchyard_local.endpoint import Deployment, Endpoint, recall, remember

DEPLOYMENT = Deployment(
    Endpoint(
        api_url="http://127.0.0.1:4580/_aws/execute-api/abc/$default",
        api_key="key",
        tenant="local",
        aws_endpoint_url="http://127.0.0.1:4580",
        region="us-east-1",
        port=4580,
    ),
    sources="fingerprint",
)


def test_what_was_remembered_is_recalled(tmp_path: Path) -> None:
    remember(tmp_path / "cloud.json", DEPLOYMENT)
    assert recall(tmp_path / "cloud.json") == DEPLOYMENT


def test_only_the_owner_may_read_the_key(tmp_path: Path) -> None:
    remember(tmp_path / "cloud.json", DEPLOYMENT)
    assert stat.S_IMODE((tmp_path / "cloud.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"endpoint": {"port": 1}}'])
def test_a_damaged_file_is_no_memory(tmp_path: Path, content: str) -> None:
    (tmp_path / "cloud.json").write_text(content)
    assert recall(tmp_path / "cloud.json") is None


def test_a_missing_file_is_no_memory(tmp_path: Path) -> None:
    assert recall(tmp_path / "cloud.json") is None
