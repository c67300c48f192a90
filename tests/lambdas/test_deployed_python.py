"""Functions run on Python 3.13 for ARM, whatever runs these tests: what can be seen without one.

What they import is in the layer that is deployed, built for that interpreter, and none of it is a
part of the standard library that 3.13 does not have any more.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import compatible_tags, cpython_tags, parse_tag
from packaging.utils import canonicalize_name

from stacks.dependencies import bundle_dependencies
from stacks.stage import LAMBDA_ARM64

ROOT = Path(__file__).parents[2]
SHARED = ROOT / "layers" / "shared" / "python"
SOURCES = sorted(  # without what is not deployed, and no function may import
    file
    for file in chain((ROOT / "lambdas").rglob("*.py"), SHARED.rglob("*.py"))
    if not {SHARED / "switchyard" / name for name in ("client", "testing")} & {*file.parents}
)
DEPLOYED = (3, 13)
GLIBC = range(5, 35)  # Amazon Linux 2023 has 2.34
PLATFORMS = ["linux_aarch64", "manylinux2014_aarch64", *(f"manylinux_2_{n}_aarch64" for n in GLIBC)]
ENVIRONMENT = {
    "implementation_name": "cpython",
    "platform_machine": "aarch64",
    "platform_system": "Linux",
    "python_full_version": "3.13.0",
    "python_version": "3.13",
    "sys_platform": "linux",
    "extra": "",
}
# https://docs.python.org/3/whatsnew/3.12.html#removed
# https://docs.python.org/3/whatsnew/3.13.html#removed-modules-and-apis
REMOVED_MODULES = set(
    """
    aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp lib2to3 mailcap
    msilib nis nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib
    """.split()  # noqa: SIM905 - a list of names is read more easily than a list of strings
)
REMOVED_NAMES = {
    "configparser.LegacyInterpolation",
    "configparser.SafeConfigParser",
    "importlib.find_loader",
    "locale.format",
    "locale.resetlocale",
    "pkgutil.ImpImporter",
    "pkgutil.ImpLoader",
    "re.TEMPLATE",
    "re.template",
    "sqlite3.enable_shared_cache",
    "ssl.RAND_pseudo_bytes",
    "ssl.match_hostname",
    "ssl.wrap_socket",
    "typing.io",
    "typing.re",
    "unittest.findTestCases",
    "unittest.getTestCaseNames",
    "unittest.makeSuite",
    "webbrowser.MacOSX",
}


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(), filename=str(file), feature_version=DEPLOYED)


def names(file: Path) -> Iterator[str]:
    """What is taken from modules, with the module's name."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def modules(file: Path) -> Iterator[str]:
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def of_others() -> set[str]:
    everything = set(chain.from_iterable(map(modules, SOURCES)))
    return everything - sys.stdlib_module_names - REMOVED_MODULES - {"switchyard", "lambdas"}


@pytest.fixture(scope="module")
def layer() -> dict[str, Distribution]:
    folder = bundle_dependencies(LAMBDA_ARM64) / "python"
    return {canonicalize_name(found.name): found for found in distributions(path=[str(folder)])}


def removed_from(file: Path) -> set[str]:
    return set(modules(file)) & REMOVED_MODULES | set(names(file)) & REMOVED_NAMES


def test_no_source_uses_what_3_13_removed_from_the_standard_library() -> None:
    assert {str(file): gone for file in SOURCES if (gone := removed_from(file))} == {}


def test_what_was_removed_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "old.py"
    file.write_text("import cgi\nfrom imp import reload\nimport ssl\nssl.wrap_socket(None)\n")
    assert removed_from(file) == {"cgi", "imp", "ssl.wrap_socket"}


def test_every_import_of_the_functions_is_in_the_deployed_layer(
    layer: dict[str, Distribution],
) -> None:
    provided = {
        part.parts[0].partition(".")[0]
        for distribution in layer.values()
        for part in distribution.files or ()
        if part.suffix in {".py", ".so"}
    }
    assert {"boto3", "pydantic", "slack_sdk"} <= of_others()
    assert of_others() - provided == set()


def test_the_deployed_layer_is_built_for_the_deployed_interpreter(
    layer: dict[str, Distribution],
) -> None:
    accepted = {
        *cpython_tags(DEPLOYED, abis=["cp313"], platforms=PLATFORMS),
        *compatible_tags(DEPLOYED, "cp313", platforms=PLATFORMS),
    }
    for name, found in layer.items():
        wheel = found.read_text("WHEEL") or ""
        tags = chain.from_iterable(map(parse_tag, re.findall(r"^Tag: (\S+)", wheel, re.MULTILINE)))
        assert accepted.intersection(tags), f"{name} is a wheel for another interpreter"
        required = found.metadata["Requires-Python"] or ""
        assert "3.13.0" in SpecifierSet(required), f"{name} requires Python {required}"


def test_the_deployed_layer_has_all_that_its_packages_require(
    layer: dict[str, Distribution],
) -> None:
    """It is installed from its pins alone."""
    for name, found in layer.items():
        for required in map(Requirement, found.requires or ()):
            if required.marker is None or required.marker.evaluate(ENVIRONMENT):
                there = layer.get(canonicalize_name(required.name))
                assert there is not None, f"{name} requires {required}"
                assert there.version in required.specifier, f"{name} requires {required}"
