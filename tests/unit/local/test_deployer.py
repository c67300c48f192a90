"""When the stacks are deployed again, and when what is there will do."""

from contextlib import ExitStack, nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest

from local import deployer
from local.deployer import Deployer
from local.endpoint import Deployment, remember
from local.home import Home
from local.sources import DEPLOYED, fingerprint
from tests.unit.local.test_endpoint import DEPLOYMENT

PORT = DEPLOYMENT.endpoint.port


class FakeMiniStack:
    pid = 7
    running = True
    has_saved = True

    def require_port(self) -> None: ...


class FakeCdk:
    """Every deployment is interrupted."""

    def __init__(self, *_: object) -> None: ...

    def end_leftovers(self) -> None: ...

    def synthesize(self) -> nullcontext[Mock]:
        return nullcontext(Mock())

    def deploy(self) -> nullcontext[Mock]:
        raise KeyboardInterrupt


def bring_up(root: Path) -> Deployment:
    with ExitStack() as undo:
        return Deployer(root, Home(root), PORT, FakeMiniStack()).bring_up(print, undo)  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source file whose present content is deployed."""
    monkeypatch.setattr(deployer, "Cdk", FakeCdk)
    monkeypatch.setattr(deployer, "api_serves", lambda endpoint: True)
    source = tmp_path / "app.py"
    source.write_text("A")
    deployed = Deployment(DEPLOYMENT.endpoint, fingerprint(tmp_path, DEPLOYED, str(PORT)))
    remember(Home(tmp_path).cloud_file, deployed)
    return source


def test_what_is_deployed_already_is_kept(source: Path) -> None:
    assert bring_up(source.parent).endpoint == DEPLOYMENT.endpoint


def test_changed_sources_are_deployed(source: Path) -> None:
    source.write_text("B")
    with pytest.raises(KeyboardInterrupt):
        bring_up(source.parent)


def test_after_half_a_deployment_the_former_sources_are_deployed_again(source: Path) -> None:
    source.write_text("B")
    with pytest.raises(KeyboardInterrupt):
        bring_up(source.parent)
    source.write_text("A")
    with pytest.raises(KeyboardInterrupt):
        bring_up(source.parent)
