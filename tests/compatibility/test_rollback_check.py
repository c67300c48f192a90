"""The check of a rollback says in a sentence why it cannot be made."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.exchange import lend_suite
from tests.compatibility.sources import NoHistory, extracted, last_released, python_in
from tests.compatibility.templates import (
    Broken,
    require_same_names,
    rolled_back_first,
    undocumented,
)


def a_template(
    *tables: str, exports: tuple[str, ...] = (), imports: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {
        "Resources": {
            **{
                name: {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": name}}
                for name in tables
            },
            "F": {
                "Type": "AWS::Lambda::Function",
                "Properties": {"Environment": [{"Fn::ImportValue": name} for name in imports]},
            },
        },
        "Outputs": {name: {"Value": "x", "Export": {"Name": name}} for name in exports},
    }


def test_a_renamed_table_is_named_before_anything_is_deployed() -> None:
    new, old = {"infra": a_template("switchyard-dev-state")}, {"infra": a_template("state-dev")}
    with pytest.raises(Broken, match=r"other names.*DynamoDB::Table state-dev.*stage.py"):
        require_same_names(new, old)


def test_a_table_that_only_the_newer_version_has_is_no_obstacle() -> None:
    new, old = {"infra": a_template("state", "api-keys")}, {"infra": a_template("state")}
    assert require_same_names(new, old) == 1


def test_a_stack_that_imports_what_the_older_version_does_not_export_is_rolled_back_first() -> None:
    new = {
        "infra": a_template(exports=("state", "keys")),
        "api": a_template(imports=("state", "keys")),
        "worker": a_template(imports=("state",)),
    }
    old = {"infra": a_template(exports=("state",)), "api": a_template(imports=("state",))}
    assert rolled_back_first(new, old) == ["api"]
    old["api"] = a_template(imports=("gone",))
    with pytest.raises(Broken, match="api of the older version imports gone"):
        rolled_back_first(new, old)


def test_a_stack_that_the_way_back_does_not_name_is_found() -> None:
    page = "**Back to 1.0.** cdk deploy switchyard-prod-api\nmake deploy\nswitchyard-prod-worker"
    stacks = ["switchyard-local-api", "switchyard-local-worker"]
    assert undocumented(stacks, page=page, version="1.0") == ["switchyard-local-worker"]
    assert undocumented(stacks, page=page, version="0.9") == stacks
    assert undocumented([], page=page, version="0.9") == []


@pytest.mark.long
def test_the_suite_can_be_imported_beside_the_last_release(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git to read the history with")
    try:
        tree = extracted(last_released(), tmp_path / "old")
    except NoHistory as error:
        pytest.skip(str(error))
    lend_suite(tree)
    python_in(tree, ["-c", "import tests.compatibility.exchange"])


def test_a_clone_without_the_history_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoHistory, match=r"not in this clone.*OLD=<revision>"):
        extracted("0" * 40, tmp_path)
