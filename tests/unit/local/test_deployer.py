"""When the stacks are deployed again, and when what is there will do."""

from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from switchyard_local.deployment import deployer
from switchyard_local.deployment.deployer import Deployer
from switchyard_local.emulator.saves import Save
from switchyard_local.endpoint import Deployment, remember
from switchyard_local.home import Home
from switchyard_local.sources import DEPLOYED, fingerprint
from tests.unit.local.test_endpoint import DEPLOYMENT

PORT = DEPLOYMENT.endpoint.port


class FakeMiniStack:
    pid = 7
    running = True
    has_saved = True
    last_save: Save | None = None

    def require_port(self) -> None: ...

    def save(self) -> None: ...


class FakeCdk:
    """Every deployment is interrupted."""

    def __init__(self, *_: object) -> None: ...

    def end_leftovers(self) -> None: ...

    def install(self, say: object) -> None: ...

    def synthesize(self, assembly: Path) -> nullcontext[Mock]:
        assembly.mkdir(exist_ok=True)
        return nullcontext(Mock())

    def bootstrap(self) -> nullcontext[Mock]:
        return nullcontext(Mock())

    def deploy(self, assembly: Path) -> nullcontext[Mock]:
        raise KeyboardInterrupt


def bring_up(root: Path) -> Deployment:
    with ExitStack() as undo:
        return Deployer(root, Home(root), PORT, FakeMiniStack()).bring_up(print, undo)  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source file whose present content is deployed."""
    monkeypatch.setattr(deployer, "Cdk", FakeCdk)
    monkeypatch.setattr(deployer, "api_serves", lambda endpoint: True)
    monkeypatch.setattr(deployer, "ensure_webhooks_secret", lambda gateway: None)
    source = tmp_path / "app.py"
    source.write_text("A")
    deployed = Deployment(DEPLOYMENT.endpoint, fingerprint(tmp_path, DEPLOYED, str(PORT)))
    remember(Home(tmp_path).cloud_file, deployed)
    return source


def test_what_is_deployed_already_is_kept(source: Path) -> None:
    assert bring_up(source.parent).endpoint == DEPLOYMENT.endpoint


def test_a_cloud_that_is_kept_gets_the_secret_of_webhooks(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensured: list[object] = []
    monkeypatch.setattr(deployer, "ensure_webhooks_secret", ensured.append)
    bring_up(source.parent)
    assert len(ensured) == 1


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


class EndedMiniStack(FakeMiniStack):
    running = False

    def __init__(self, save: Save | None) -> None:
        self.last_save = save
        self.has_saved = save is not None

    def start(self) -> None: ...

    def wait_until_ready(self) -> None: ...

    def stop(self, *, keep_data: bool) -> None: ...

    def forget_everything(self) -> None: ...


def said_when_it_comes_up(root: Path, save: Save | None) -> str:
    said: list[str] = []
    with suppress(KeyboardInterrupt), ExitStack() as undo:
        ended = EndedMiniStack(save)
        Deployer(root, Home(root), PORT, ended).bring_up(said.append, undo)  # type: ignore[arg-type]
    return "\n".join(said)


def test_a_killed_cloud_says_what_is_lost_before_it_goes_on(source: Path) -> None:
    said = said_when_it_comes_up(source.parent, Save(1, PORT, 1_000, final=False))
    assert "what happened later is lost" in said


def test_a_cloud_without_any_save_says_that_it_starts_empty(source: Path) -> None:
    assert "are lost, and an empty cloud is started" in said_when_it_comes_up(source.parent, None)


def test_a_cloud_that_gets_another_port_moves_there(source: Path) -> None:
    said = said_when_it_comes_up(source.parent, Save(1, PORT + 1, 1_000, final=True))
    assert f"moves from port {PORT + 1} to {PORT}" in said
    assert "lost" not in said


def test_a_cloud_that_was_stopped_in_order_has_lost_nothing(source: Path) -> None:
    said = said_when_it_comes_up(source.parent, Save(1, PORT, 1_000, final=True))
    assert "lost" not in said
