"""Writes what `sam local invoke` needs: `python -m switchyard_local.functions.sam_env FOLDER`.

The templates of one stack import values of others, and SAM replaces every `Fn::ImportValue` by an
empty string. So the variables of the deployed functions are written to a file for `--env-vars`:
those of the local cloud, or of a stage that is deployed to AWS. SAM passes on only variables that
the template declares, so what a template lacks is declared in it.
https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/serverless-sam-cli-using-invoke.html
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from switchyard.bootstrap.operators import function_variables
from switchyard.contracts.function_names import function_folder, service_name
from switchyard.domain.errors import Unavailable
from switchyard_local.cloud import LocalCloud
from switchyard_local.endpoint import Endpoint
from switchyard_local.errors import CloudError
from switchyard_local.functions.invoke import function_names
from switchyard_local.source_tree import SOURCES

ENVIRONMENT_FILE: Final = "env.json"
FAILED: Final = 1

Variables = Mapping[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m switchyard_local.functions.sam_env", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="where the templates are, and the file will be")
    parser.add_argument("--stage", default="local", help="whose values: local, or a deployed stage")
    asked = parser.parse_args()
    try:
        file = write(asked.folder, variables_of(asked.stage))
    except (CloudError, Unavailable) as error:
        print(f"switchyard: {error}", file=sys.stderr)  # noqa: T201
        return FAILED
    print(f"The values of the stage {asked.stage} are in {file}.")  # noqa: T201
    return 0


def variables_of(stage: str) -> dict[str, Variables]:
    """Return the variables of each function, by its folder below `lambdas/`."""
    if stage == "local":
        return local_variables(LocalCloud().endpoint())
    return _deployed(stage)


def local_variables(endpoint: Endpoint) -> dict[str, Variables]:
    """The local cloud's, and its address: on AWS no function needs to be given one."""
    reach = {"AWS_ENDPOINT_URL": endpoint.aws_endpoint_url}
    deployed = _deployed("local", **endpoint.connection)
    return {function: {**variables, **reach} for function, variables in deployed.items()}


def write(folder: Path, variables: Mapping[str, Variables]) -> Path:
    """Write the file for the functions of the templates in `folder`, whichever stage's these are.

    Raise `CloudError` when there are none.
    """
    by_name: dict[str, Variables] = {}
    for template in sorted(folder.glob("*.template.json")):
        document = json.loads(template.read_text())
        for properties in _functions(document):
            given = variables[_folder_of(properties)]
            declared = properties["Environment"]["Variables"]
            declared.update({name: "" for name in given if name not in declared})
            by_name[properties["FunctionName"]] = given
        template.write_text(json.dumps(document, indent=1))
    if not by_name:
        raise CloudError(f"There are no templates with functions in {folder}: try `make sam-env`.")
    file = folder / ENVIRONMENT_FILE
    file.write_text(json.dumps(by_name, indent=2))
    return file


def _deployed(stage: str, **where: str) -> dict[str, Variables]:
    names = {_deployed_name(stage, function): function for function in function_names(SOURCES)}
    found = function_variables(names, **where)
    return {names[name]: variables for name, variables in found.items()}


def _deployed_name(stage: str, function: str) -> str:
    return f"switchyard-{stage}-{service_name(function)}"


def _functions(template: Any) -> Iterator[Any]:
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Function" and _is_ours(resource["Properties"]):
            yield resource["Properties"]


def _is_ours(properties: Any) -> bool:
    """The CDK adds functions of its own, without a name."""
    return str(properties.get("FunctionName", "")).startswith("switchyard-")


def _folder_of(properties: Any) -> str:
    return function_folder(properties["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"])


if __name__ == "__main__":
    sys.exit(main())
