"""A function under SAM's runtime interface emulator, with what `make sam-env` writes.

SAM runs the emulator in Lambda's image, which needs Docker. Here the same binary runs the same
command without one: on this machine's processor, with its Python and the layers built for it.
"""

import importlib.util
import json
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import httpx
import pytest
from boto3.dynamodb.conditions import Key

from stacks.dependencies import bundle_dependencies
from stacks.paths import LAYER_CACHE
from switchyard_local.deployment.assembly import Assembly
from switchyard_local.functions.sam_env import local_variables, write
from switchyard_local.home import Home
from switchyard_local.sources import DEPLOYED, fingerprint
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.patience import eventually
from tests.stacks.this_host import THIS_HOST

SAM_CLI = "aws-sam-cli==1.170.0"  # by itself: it pins packages that ours pin otherwise
EMULATORS = {"x86_64": "aws-lambda-rie-x86_64", "aarch64": "aws-lambda-rie-arm64"}
RUNTIME_CLIENT = ("awslambdaric", "runtime_client", "simplejson", "snapshot_restore_py")
FUNCTION = "switchyard-local-save-event"
SECONDS = 30

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the emulator is a program for Linux"
)


@pytest.fixture(scope="module")
def sam() -> Path:
    folder = LAYER_CACHE.parent / "sam-cli" / SAM_CLI
    if not folder.exists():
        new = folder.with_suffix(f".{uuid4()}")
        install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*install, "--target", str(new), SAM_CLI], check=True)
        new.rename(folder)
    return folder


@pytest.fixture
def templates(cloud: RunningCloud, tmp_path: Path) -> Path:
    assembly = Assembly(Home(cloud.folder), fingerprint(ROOT, DEPLOYED)).folder
    assert assembly is not None
    for template in assembly.glob("*.template.json"):
        shutil.copy(template, tmp_path)
    write(tmp_path, local_variables(cloud.endpoint))
    return tmp_path


def as_sam_resolves(sam: Path, templates: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """SAM's own code decides what the function is given; the module's other imports are types."""
    types = ModuleType("samcli.lib.providers.provider")
    types.CapacityProviderConfig = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, types.__name__, types)
    file = sam / "samcli" / "local" / "lambdafn" / "env_vars.py"
    spec = importlib.util.spec_from_file_location("env_vars_of_sam", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    resolved: dict[str, str] = module.EnvironmentVariables(
        FUNCTION,
        1024,
        SECONDS,
        "handler.handler",
        variables=declared(templates),
        override_values=json.loads((templates / "env.json").read_text())[FUNCTION],
    ).resolve()
    return resolved


def declared(templates: Path) -> Any:
    template = json.loads((templates / "switchyard-local-event.template.json").read_text())
    (function,) = (
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource.get("Properties", {}).get("FunctionName") == FUNCTION
    )
    return function["Environment"]["Variables"]


def search_path(runtime: Path) -> list[str]:
    """What Lambda's Python finds: its client of the runtime API, the function, its layers."""
    here = Path(str(distribution("awslambdaric").locate_file("")))
    runtime.mkdir()
    for name in RUNTIME_CLIENT:
        for found in here.glob(f"{name}*"):
            (runtime / found.name).symlink_to(found)
    layers = [bundle_dependencies(THIS_HOST) / "python", ROOT / "layers" / "shared" / "python"]
    return [str(folder) for folder in (ROOT / "lambdas" / "save_event", *layers, runtime)]


@contextmanager
def emulated(sam: Path, runtime: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The URL of a function that runs under the emulator."""
    emulator = sam / "samcli" / "local" / "rapid" / EMULATORS[platform.machine()]
    url, runtime_api = f"127.0.0.1:{a_free_port()}", f"127.0.0.1:{a_free_port()}"
    listens = ["--runtime-interface-emulator-address", url, "--runtime-api-address", runtime_api]
    bootstrap = [sys.executable, "-S", "-m", "awslambdaric", "handler.handler"]
    process = subprocess.Popen(
        ["timeout", str(SECONDS), emulator, *listens, *bootstrap],
        cwd=ROOT / "lambdas" / "save_event",
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(search_path(runtime)), **environment},
    )
    try:
        yield f"http://{url}/2015-03-31/functions/function/invocations"
    finally:
        process.terminate()
        process.wait(SECONDS)


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def a_new_event() -> tuple[str, Any]:
    """The recorded batch, with an event that nothing has saved yet."""
    batch = json.loads((ROOT / "tests" / "events" / "save_event.json").read_text())
    batch["Records"] = batch["Records"][:1]
    (record,) = batch["Records"]
    recorded = json.loads(record["body"])["detail"]["eventId"]
    event_id = str(uuid4())
    record["body"] = record["body"].replace(recorded, event_id)
    return event_id, batch


def answer_of(url: str, event: Any) -> Any:
    def posted() -> httpx.Response | None:
        try:
            return httpx.post(url, json=event, timeout=SECONDS)
        except httpx.ConnectError:
            return None

    return eventually(posted, "the emulator does not listen").json()


def test_a_function_under_the_emulator_saves_its_event_in_the_local_cloud(
    cloud: RunningCloud,
    sam: Path,
    templates: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = as_sam_resolves(sam, templates, monkeypatch)
    event_id, batch = a_new_event()

    with emulated(sam, tmp_path / "runtime", environment) as url:
        assert answer_of(url, batch) == {"batchItemFailures": []}

    detail = json.loads(batch["Records"][0]["body"])["detail"]
    table = cloud.table(cloud.output("infrastructure", "EventsTableName"))
    saved = table.query(
        KeyConditionExpression=Key("PK").eq(detail["PK"]) & Key("SK").eq(detail["SK"])
    )["Items"]
    assert [item["eventId"] for item in saved] == [event_id]


def test_without_the_file_sam_gives_the_function_empty_names(templates: Path) -> None:
    """The test above would notice a missing file because of this."""
    imported = {name for name, value in declared(templates).items() if isinstance(value, dict)}
    given = json.loads((templates / "env.json").read_text())[FUNCTION]
    assert imported
    assert all(given[name] for name in imported)
