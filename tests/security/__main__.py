"""`python -m tests.security`: attack a worker, its neighbours and the API, and report.

Every attack on a worker is a task of a real worker that the container's entrypoint started, as a
user of its own, with the proxy for Claude on. Exit codes: 0 all figures are met, 1 one is not,
2 the attacks could not be run here.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence

from tests.security.attack import Attack, Group
from tests.security.attacks import TASK_ATTACKS
from tests.security.attacks import tenants as tenants_attacks
from tests.security.judging import Judged, judge
from tests.security.report import Report, line_of
from tests.security.runs import CannotRun, attacked, has_processor_group, interpreter
from tests.security.tenant_runs import judged as judged_tenants

MET, NOT_MET, CANNOT_RUN = 0, 1, 2


def catalogue() -> Iterator[tuple[Group, str, str]]:
    """Yield the group, the name and the aim of every attack."""
    for attack in TASK_ATTACKS:
        yield attack.group, attack.name, attack.tries
    for request in (*tenants_attacks.ATTACKS, *tenants_attacks.KEYS):
        yield Group.TENANTS, request.name, request.tries


def chosen(attacks: Iterable[Attack], only: str | None) -> list[Attack]:
    return [attack for attack in attacks if _is_chosen(attack.group, attack.name, only)]


def _is_chosen(group: Group, name: str, only: str | None) -> bool:
    if only is None or only in {each.value for each in Group}:
        return only in {None, group.value}
    return only in name


def run(only: str | None, *, say: bool) -> Report:
    """Raise `CannotRun`."""
    python, report = interpreter(), Report()
    for group in Group:
        attacks = chosen([a for a in TASK_ATTACKS if a.group is group], only)
        if attacks:
            _attack_worker(group, attacks, python, report, say=say)
    if only is None or any(_is_chosen(g, n, only) for g, n, _ in catalogue() if g == "tenants"):
        found = [each for each in judged_tenants() if _is_chosen(each.group, each.name, only)]
        _note(report, found, say=say)
    return report


def _attack_worker(
    group: Group, attacks: Sequence[Attack], python: str, report: Report, *, say: bool
) -> None:
    ended = attacked([attack.name for attack in attacks], group, python=python)
    if not ended.observed:
        report.not_run.append(f"{group}: {ended.problem[-300:]}")
    _note(report, [judge(a, o) for a, o in zip(attacks, ended.observed, strict=False)], say=say)
    if ended.stopped_by_attack:
        report.workers_stopped.append(f"in {group}: exit code {ended.exit_code}")
    if ended.victim is not None and ended.victim != {
        "alive": True,
        "state": "COMPLETED",
        "output": {"intact": True, "names": ["secret"]},
    }:
        report.victims_harmed.append(f"in {group}: {ended.victim}")


def _note(report: Report, found: Sequence[Judged], *, say: bool) -> None:
    report.judged += found
    if say:
        for each in found:
            print(line_of(each), flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.security", description=__doc__)
    parser.add_argument("--list", action="store_true", help="list the attacks and do nothing")
    parser.add_argument("--only", metavar="PART", help="a group, or a part of an attack's name")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    given = parser.parse_args(arguments)
    if given.only and not any(_is_chosen(g, n, given.only) for g, n, _ in catalogue()):
        parser.error(f"no group and no attack is called {given.only!r}: see --list")
    if given.list:
        for group, name, tries in catalogue():
            print(f"{group:8} {name}: {tries}")
        return MET
    try:
        report = run(given.only, say=not given.json)
    except CannotRun as problem:
        print(f"The attacks could not run: {problem}.", file=sys.stderr)
        return CANNOT_RUN
    if given.json:
        print(json.dumps(report.as_json(), indent=2))
    else:
        print(f"\nown group for processor time, as in a container: {has_processor_group()}")
        print("\n".join(report.lines()))
    return MET if report.met else NOT_MET


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
