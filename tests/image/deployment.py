"""What `cdk deploy` would build and run: the asset and the task definition of the stage dev."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tests.image.commands import output_of

ROOT: Final = Path(__file__).parents[2]
STAGE: Final = "dev"
STACK: Final = f"switchyard-{STAGE}-consumer"
CDK: Final = ROOT / ".venv/lib/cdk/node_modules/.bin/cdk"
DOCKERS_CAPABILITIES: Final = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)


@dataclass(frozen=True)
class Asset:
    """A Docker image asset as the CDK stages it."""

    folder: Path
    dockerfile: str
    platform: str


@dataclass(frozen=True)
class Deployment:
    assembly: Path

    @classmethod
    def synthesized(cls, assembly: Path) -> "Deployment":
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # Node is there
        output_of(
            [CDK, "synth", "--quiet", "-c", f"stage={STAGE}", "--output", assembly],
            folder=ROOT,
            environment={**os.environ, "PATH": path, "CDK_VALIDATION": "false"},
        )
        return cls(assembly)

    @cached_property
    def asset(self) -> Asset:
        manifest = json.loads((self.assembly / f"{STACK}.assets.json").read_text())
        (image,) = manifest["dockerImages"].values()
        source = image["source"]
        folder = self.assembly / source["directory"]
        return Asset(folder, source["dockerFile"], source["platform"])

    @cached_property
    def container(self) -> Mapping[str, Any]:
        """The worker's container definition."""
        template = json.loads((self.assembly / f"{STACK}.template.json").read_text())
        (task,) = [
            resource["Properties"]
            for resource in template["Resources"].values()
            if resource["Type"] == "AWS::ECS::TaskDefinition"
        ]
        (container,) = task["ContainerDefinitions"]
        found: Mapping[str, Any] = container
        return found

    @property
    def capabilities(self) -> frozenset[str]:
        """Return the capabilities that Docker gives and the task definition does not drop."""
        changed = self.container["LinuxParameters"]["Capabilities"]
        return DOCKERS_CAPABILITIES - frozenset(changed["Drop"]) | frozenset(changed.get("Add", ()))

    @property
    def volumes(self) -> list[str]:
        return [mount["ContainerPath"] for mount in self.container["MountPoints"]]

    @property
    def health_check(self) -> list[str]:
        """The command, which no shell runs."""
        words: list[str] = self.container["HealthCheck"]["Command"]
        return words[1:]

    @property
    def variables(self) -> dict[str, Any]:
        """Return variables by name; a value may be a reference to another stack."""
        return {entry["Name"]: entry["Value"] for entry in self.container["Environment"]}
