"""A slice of `make security`: attacks by tasks of a real worker behind the container's entrypoint.

Where only root could change users, the attacks on the event loop run by a worker without them.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.security.__main__ import catalogue
from tests.security.attack import LONGEST_PAUSE_MS, Group
from tests.security.attacks import TASK_ATTACKS, attack_named
from tests.security.judging import Judged, judge
from tests.security.planted_secrets import CREDENTIALS, TENANTS, encodings, found_in
from tests.security.report import Report
from tests.security.runs import CannotRun, Ended, attacked, interpreter

REPOSITORY = Path(__file__).parents[2]
ON_THE_LOOP = (
    "a chain of 1,500 times fork and exit",
    "2,000 zombies",
    "an endless input schema",
    "a line that looks like the worker's own",
    "secrets of all kinds",
)
COSTLY = ("1,500 nested folders", "an outcome of millions of lists")
"""Also on the loop, seconds of a core each. Of the worker's tests, `test_quota.py` and
`test_trees.py` have such folders, and `test_guard_client.py` has such lists."""
WITH_USERS = (
    "a link to the worker's environment",
    "names that steer a terminal",
    "signal every process",
    "outlive the task",
    "files elsewhere",
    "search everything for the key",
    "a dearer model",
    "no HTTP at all",
)


@pytest.fixture(scope="module")
def python() -> str | None:
    try:
        return interpreter()
    except CannotRun:
        return None


@pytest.fixture(scope="module")
def ended(python: str | None) -> Ended:
    names = (*ON_THE_LOOP, *WITH_USERS) if python else ON_THE_LOOP
    return attacked(names, Group.LOOP, python=python)


@pytest.fixture(scope="module")
def judged(ended: Ended) -> Mapping[str, Judged]:
    return by_name(ended)


@pytest.fixture(scope="module")
def costly(python: str | None) -> Mapping[str, Judged]:
    return by_name(attacked(COSTLY, Group.LOOP, python=python))


def by_name(ended: Ended) -> Mapping[str, Judged]:
    assert ended.observed, ended.problem
    return {seen.name: judge(attack_named(seen.name), seen) for seen in ended.observed}


def faults_of(name: str, judged: Mapping[str, Judged]) -> list[str]:
    """Return what is wrong, without a pause that an idle process had as well: the machine's own."""
    found = judged[name]
    paused = (found.pause_ms or 0) > LONGEST_PAUSE_MS + (found.machine_ms or 0)
    return [f for f in found.faults if paused or not f.startswith("the loop paused")]


@pytest.mark.parametrize("name", ON_THE_LOOP)
def test_an_attack_stops_neither_the_loop_nor_the_tasks_behind_it(
    name: str, judged: Mapping[str, Judged]
) -> None:
    assert faults_of(name, judged) == []


@pytest.mark.long
@pytest.mark.parametrize("name", COSTLY)
def test_a_costly_attack_stops_neither_the_loop_nor_the_tasks_behind_it(
    name: str, costly: Mapping[str, Judged]
) -> None:
    assert faults_of(name, costly) == []


@pytest.mark.parametrize("name", WITH_USERS)
def test_an_attack_by_a_user_of_its_own_is_held_and_logged(
    name: str, python: str | None, judged: Mapping[str, Judged]
) -> None:
    if python is None:
        pytest.skip("only root can change users")
    assert faults_of(name, judged) == []


def test_the_worker_outlives_its_attackers_and_stops_when_asked(
    ended: Ended, python: str | None
) -> None:
    assert not ended.stopped_by_attack, ended.log[-2000:]
    if python:
        assert ended.victim is not None
        assert ended.victim["output"] == {"intact": True, "names": ["secret"]}


@pytest.mark.parametrize("secret", [*CREDENTIALS.values(), TENANTS])
def test_a_canary_is_found_in_every_encoding_that_is_searched(secret: str) -> None:
    for text in encodings(secret):
        assert len(found_in(b"before" + text + b"after")) == 1, text
    assert found_in(b"an ordinary text") == set()


def test_a_figure_that_is_not_met_fails_the_report() -> None:
    held = Judged(
        name="x", group=Group.FILES, happened="", trace=attack_named("2,000 zombies").trace
    )
    assert Report(judged=[held]).met
    assert not Report(judged=[held], workers_stopped=["one"]).met
    assert not Report(judged=[held], victims_harmed=["one"]).met
    assert not Report(judged=[held], not_run=["files"]).met
    for fault in (
        {"credentials": ["a key"]},
        {"trace": None},
        {"pause_ms": 251},
        {"faults": ["SUCCEEDED"]},
    ):
        facts = {"name": "x", "group": Group.FILES, "happened": "", "trace": held.trace}
        assert not Report(judged=[Judged(**facts | fault)]).met


def test_every_attack_has_a_name_of_its_own_and_says_what_it_tries() -> None:
    names = [name for _, name, _ in catalogue()]
    assert len(names) == len(set(names)) >= 60
    assert all(tries for _, _, tries in catalogue())
    assert {group for group, _, _ in catalogue()} == set(Group)
    assert {attack.group for attack in TASK_ATTACKS} == set(Group) - {Group.TENANTS}


def test_the_page_lists_every_attack() -> None:
    page = (REPOSITORY / "docs" / "security.md").read_text()
    _, _, section = page.partition("## Attacks that are tried\n")
    listed = {line.removeprefix("- ") for line in section.splitlines() if line.startswith("- ")}
    assert {f"{name}: {tries}" for _, name, tries in catalogue()} <= listed
