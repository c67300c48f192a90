"""Puts what the local cloud deploys into the wheel, below `switchyard_local/source`.

hatchling calls it (`pyproject.toml`). An editable installation finds all that in the repository.
"""

from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED: Final = (
    ".dockerignore",
    ".npmrc",
    "app.py",
    "cdk.json",
    "examples",
    "lambdas",
    "layers",
    "package-lock.json",
    "package.json",
    "requirements.txt",
    "stacks",
    "switchyard_worker",
)


class CustomBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"] |= {
                name: f"switchyard_local/source/{name}" for name in SHIPPED
            }
