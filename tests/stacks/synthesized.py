"""A harness as CloudFormation would get it, and questions about it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aws_cdk import App

from app import add_security_checks
from stacks.application import build_application
from stacks.paths import REPOSITORY
from stacks.stage import Stage

Properties = Mapping[str, Any]


@dataclass(frozen=True)
class SynthesizedStage:
    stage: Stage
    folder: Path
    findings: str = ""
    """Why the security checks, or another part of the synthesis, refused the stage."""

    def template(self, part: str) -> Mapping[str, Any]:
        return self._templates[f"{self.stage.prefixed(part)}.template.json"]

    def template_files(self) -> list[Path]:
        return sorted(self.folder.glob("*.template.json"))

    def all(self, resource_type: str) -> list[Properties]:
        """The properties of every resource of a type, whichever stack it is in."""
        return [resource.get("Properties", {}) for resource in self._resources(resource_type)]

    def one(self, resource_type: str, **properties: object) -> Properties:
        """The only resource of a type with these properties."""
        (found,) = (
            candidate
            for candidate in self.all(resource_type)
            if all(candidate.get(name) == value for name, value in properties.items())
        )
        return found

    def default_service(self) -> Properties:
        """The service of the default pool's workers."""
        return self.one("AWS::ECS::Service", ServiceName=self.stage.prefixed("worker"))

    def default_container(self) -> Properties:
        """The container of the default pool's workers."""
        family = self.stage.prefixed("worker")
        task = self.one("AWS::ECS::TaskDefinition", Family=family)
        container: Properties = task["ContainerDefinitions"][0]
        return container

    def imported(self, reference: Mapping[str, Any]) -> Properties:
        """What a stack refers to: of its own, or exported by another."""
        value = self._exported.get(reference.get("Fn::ImportValue", ""), reference)
        resource = value["Fn::GetAtt"][0] if "Fn::GetAtt" in value else value["Ref"]
        (found,) = (
            template["Resources"][resource]
            for template in self._templates.values()
            if resource in template["Resources"]
        )
        properties: Properties = found["Properties"]
        return properties

    def _resources(self, resource_type: str) -> Iterator[Mapping[str, Any]]:
        for template in self._templates.values():
            for resource in template["Resources"].values():
                if resource["Type"] == resource_type:
                    yield resource

    @cached_property
    def _templates(self) -> Mapping[str, Mapping[str, Any]]:
        return {file.name: json.loads(file.read_text()) for file in self.template_files()}

    @cached_property
    def _exported(self) -> Mapping[str, Any]:
        return {
            output["Export"]["Name"]: output["Value"]
            for template in self._templates.values()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }


def further_queues(stage: Stage, name: str = "task-queue", suffix: str = "") -> list[str]:
    """Return the names of the queues that other pools than the default one have."""
    return [f"{name}-{pool.name}{suffix}" for pool in stage.pools if pool.name != "default"]


def text_of(value: Any) -> str:
    """Return a value as text; what is known only after the deployment is some name."""
    if isinstance(value, str):
        return value
    parts = value.get("Fn::Join", ["", ["a-name"]])[1]
    return "".join(part if isinstance(part, str) else "a-name" for part in parts)


def synthesize(stage: Stage, folder: Path) -> SynthesizedStage:
    """Synthesize with the security checks, whose findings fail a synthesis after it is written."""
    app = app_of(stage, folder)
    add_security_checks(app)
    try:
        app.synth()
    except RuntimeError as error:
        return SynthesizedStage(stage, folder, findings=str(error))
    return SynthesizedStage(stage, folder)


def app_of(stage: Stage, folder: Path) -> App:
    """The app with the feature flags that the CLI would pass it from cdk.json."""
    flags = json.loads((REPOSITORY / "cdk.json").read_text())["context"]
    app = App(
        context=flags,
        outdir=str(folder),
        analytics_reporting=False,
        builtin_cloud_formation_validation=False,
    )
    build_application(app, stage)
    return app
