"""What the templates of two versions say about going from one to the other."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.compatibility.sources import python_in

OWN_SOURCES: Final = """
import sys
from pathlib import Path
if Path("local").is_dir():  # 0.1
    from local import api_key, cdk
    from local.cloud import LocalCloud
    from local.home import Home
else:
    from switchyard_local.deployment import api_key, cdk
    from switchyard_local.cloud import LocalCloud
    from switchyard_local.home import Home
layer = str(Path.cwd() / "layers" / "shared" / "python")
bare = cdk.bare_environment
for module in (api_key, cdk):
    module.bare_environment = lambda home: bare(home) | {"PYTHONPATH": layer}
"""
"""Has a version synthesize its stacks and issue its key with its own package, not the installed."""
_SYNTH: Final = f"""{OWN_SOURCES}
home = Home(Path(sys.argv[1]))
home.create()
where = [] if Path("local").is_dir() else [home.assembly]
with cdk.Cdk(Path.cwd(), home, 1).synthesize(*where) as synthesis:
    synthesis.finish()
"""
STATEFUL: Final = {
    "AWS::DynamoDB::Table": "TableName",
    "AWS::DynamoDB::GlobalTable": "TableName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::Events::EventBus": "Name",
}
"""What holds data, and the property that names it: another name is another, empty resource."""


class Broken(Exception):
    """What the check found."""


@dataclass(frozen=True)
class Version:
    """A version's sources."""

    name: str
    tree: Path


Templates = dict[str, Any]
"""The templates of a version for the local stage, by their stacks' names."""


def templates_of(version: Version, folder: Path) -> Templates:
    python_in(version.tree, ["-c", _SYNTH, str(folder)])
    return {
        path.name.removesuffix(".template.json"): json.loads(path.read_text())
        for path in sorted((folder / "cdk.out").glob("*.template.json"))
    }


def stateful_names(templates: Templates) -> set[str]:
    """Return the kinds and names of what holds data."""
    return {
        f"{resource['Type']} {resource['Properties'].get(STATEFUL[resource['Type']], name)}"
        for template in templates.values()
        for name, resource in template["Resources"].items()
        if resource["Type"] in STATEFUL
    }


def require_same_names(new: Templates, old: Templates) -> int:
    """Return how many names both have; raise `Broken` if the older version has others."""
    theirs = stateful_names(old)
    lost = sorted(theirs - stateful_names(new))
    if lost:
        raise Broken(
            "What holds data has other names in the newer version than in the older one, so neither"
            f" would find the other's: {', '.join(lost)}. Keep the old names for this stage"
            " (stacks/stage.py)."
        )
    return len(theirs)


def rolled_back_first(new: Templates, old: Templates) -> list[str]:
    """Return the stacks that import exports of the newer version alone.

    CloudFormation does not remove an export that a stack imports, so the older version of these
    stacks is deployed first: raise `Broken` if one needs an export that the newer version lacks.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
    """
    removed = _exports(new) - _exports(old)
    first = sorted(name for name, template in new.items() if removed & set(_imports(template)))
    for name in first:
        missing = sorted(set(_imports(old.get(name, {}))) - _exports(new))
        if missing:
            raise Broken(f"{name} of the older version imports {', '.join(missing)}: not exported")
    return first


def undocumented(stacks: Sequence[str], *, page: str, version: str) -> list[str]:
    """Return the stacks of the stage local that the way back to `version` does not name."""
    _, _, section = page.partition(f"**Back to {version}.**")
    (first, *_) = section.split("make deploy")
    prod = {stack: stack.replace("-local-", "-prod-") for stack in stacks}
    return [stack for stack, name in prod.items() if name not in first]


def _exports(templates: Templates) -> set[str]:
    outputs = (output for one in templates.values() for output in one.get("Outputs", {}).values())
    return {output["Export"]["Name"] for output in outputs if "Export" in output}


def _imports(value: Any) -> Iterator[str]:
    match value:
        case {"Fn::ImportValue": str(name)}:
            yield name
        case dict():
            for inner in value.values():
                yield from _imports(inner)
        case list():
            for inner in value:
                yield from _imports(inner)
