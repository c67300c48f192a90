"""A harness as CloudFormation would get it, and questions about it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import App

from stacks.application import build_application
from stacks.paths import REPOSITORY
from stacks.stage import Stage

Properties = Mapping[str, Any]


@dataclass(frozen=True)
class SynthesizedStage:
    stage: Stage
    folder: Path

    def template(self, part: str) -> Mapping[str, Any]:
        name = f"{self.stage.prefixed(part)}.template.json"
        template: Mapping[str, Any] = json.loads((self.folder / name).read_text())
        return template

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

    def imported(self, reference: Mapping[str, Any]) -> Properties:
        """What a stack refers to: of its own, or exported by another."""
        templates = [json.loads(file.read_text()) for file in self.template_files()]
        exported = {
            output["Export"]["Name"]: output["Value"]
            for template in templates
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }
        value = exported.get(reference.get("Fn::ImportValue", ""), reference)
        resource = value["Fn::GetAtt"][0] if "Fn::GetAtt" in value else value["Ref"]
        (found,) = (t["Resources"][resource] for t in templates if resource in t["Resources"])
        properties: Properties = found["Properties"]
        return properties

    def _resources(self, resource_type: str) -> Iterator[Mapping[str, Any]]:
        for file in self.template_files():
            for resource in json.loads(file.read_text())["Resources"].values():
                if resource["Type"] == resource_type:
                    yield resource


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
