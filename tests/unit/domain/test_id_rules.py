"""The documented rule of an id is what its pattern accepts, and is written in one place."""

import re
import string
from pathlib import Path

import pytest

from switchyard.domain import ids

ROOT = Path(__file__).parents[3]
RULES = sorted(name for name in vars(ids) if name.endswith("_RULE"))
LISTED = {"a-z": string.ascii_lowercase, "A-Z": string.ascii_uppercase, "0-9": string.digits}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_its_pattern_accepts(name: str) -> None:
    pattern, rule = getattr(ids, name.removesuffix("_RULE")), getattr(ids, name)
    said, _, exception = rule.replace(", 0-9 and -", " 0-9 -").partition(", without ")
    longest, _, characters = said.removeprefix("1 to ").partition(" of ")
    accepted = "".join(LISTED.get(word, word) for word in characters.split())
    assert {c for c in map(chr, range(256)) if pattern.fullmatch(f"a{c}")} == set(accepted)
    assert pattern.fullmatch("a" * int(longest))
    assert not pattern.fullmatch("a" * (int(longest) + 1))
    assert not pattern.fullmatch("")
    assert bool(pattern.fullmatch("-")) is not exception.startswith("-")


def test_no_other_module_repeats_a_rule() -> None:
    folders = ("layers/shared/python/switchyard", "lambdas", "worker", "cli", "local", "stacks")
    sources = {file for folder in folders for file in (ROOT / folder).rglob("*.py")}
    written = {file for file in sources if re.search(r"1 to \d+ of a-z", file.read_text())}
    assert written == {Path(ids.__file__)}
