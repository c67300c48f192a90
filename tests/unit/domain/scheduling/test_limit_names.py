"""Names of limits are made, read back and resolved."""

import pytest

from switchyard.domain.scheduling.limit_names import (
    LimitName,
    LimitScope,
    UnresolvedKey,
    key_digest,
    limits_of,
    parse_limit,
    resolved_limits,
)
from switchyard.domain.scheduling.work_queues import Concurrency

QUEUE = LimitName(scope=LimitScope.QUEUE, name="build/heavy", number=5)


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (QUEUE, "q:build/heavy:5"),
        (
            LimitName(scope=LimitScope.DEFINITION, name="sum_Up", number=3, key="0" * 16),
            "d:sum_Up:3:0000000000000000",
        ),
        (
            LimitName(scope=LimitScope.QUEUE, name="build", number=30, per_minute=True),
            "qm:build:30",
        ),
        (
            LimitName(scope=LimitScope.QUEUE, name="build", number=1, key="${input.a[0]}:b"),
            "q:build:1:${input.a[0]}:b",
        ),
    ],
)
def test_a_name_is_read_as_it_was_written(limit: LimitName, text: str) -> None:
    assert (str(limit), parse_limit(text)) == (text, limit)


@pytest.mark.parametrize(
    "text", ["", "q:build", "x:build:5", "q:build:0", "q:build:5:", "q:BUILD/x:5", "q:b:123456"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a limit"):
        parse_limit(text)


def test_the_subject_stays_when_the_number_changes() -> None:
    assert parse_limit("q:build:5:0123456789abcdef").subject == "q:build:0123456789abcdef"
    assert parse_limit("qm:build:5").subject == parse_limit("qm:build:9").subject == "qm:build"


def test_keys_become_digests_of_their_values() -> None:
    limits = limits_of(LimitScope.QUEUE, "build", Concurrency(limit=1, key="${input.repo}"), 9)
    assert limits == ("q:build:1:${input.repo}", "qm:build:9")
    one, two = (resolved_limits(limits, {"repo": repo})[0] for repo in ("x", "y"))
    assert one != two
    assert parse_limit(one).resolved
    assert not parse_limit(limits[0]).resolved


def test_a_constant_is_a_key_and_texts_may_be_put_together() -> None:
    assert key_digest("all", None) == key_digest("all", {"a": 1})
    joined = "${input.owner}/${input.repo}"
    assert key_digest(joined, {"owner": "a", "repo": "b"}) == key_digest("a/b", None)


@pytest.mark.parametrize("given", [None, {}, [], {"repo": "${tasks.a.output.repo}"}])
def test_a_key_needs_a_literal_value(given: object) -> None:
    with pytest.raises(UnresolvedKey, match=r"the key \$\{input.repo\} of a limit has no value"):
        key_digest("${input.repo}", given)
