"""`python -m tests.mutants`: plant each bug, see it caught. `--only WORD` tries some of them."""

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.guards import MUTANTS
from tests.mutants.mutant import ALL_PASSED, Mutant, Verdict, copy_of_the_tree, run_tests, try_out


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--only", default="", help="a word in the guard's name")
    wanted = [mutant for mutant in MUTANTS if parser.parse_args().only in mutant.guard]
    at_once = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="mutants-") as below:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(at_once):
            trees.put(copy_of_the_tree(Path(below) / str(number)))
        if not _healthy(trees, wanted):
            return 1
        with ThreadPoolExecutor(at_once) as pool:
            verdicts = list(pool.map(lambda mutant: _emit(mutant, trees), wanted))
    print(f"{sum(verdict.caught for verdict in verdicts)} of {len(verdicts)} caught")
    return 0 if all(verdict.caught for verdict in verdicts) else 1


def _healthy(trees: "SimpleQueue[Path]", wanted: list[Mutant]) -> bool:
    """A test that fails without a bug catches nothing."""
    tree = trees.get()
    for tests in dict.fromkeys(mutant.tests for mutant in wanted):
        code, output = run_tests(tree, tests)
        if code != ALL_PASSED:
            print(f"{output}\n{' '.join(tests)}: fails without any bug planted.")
            return False
    trees.put(tree)
    return True


def _emit(mutant: Mutant, trees: "SimpleQueue[Path]") -> Verdict:
    tree = trees.get()
    try:
        verdict = try_out(mutant, tree)
    finally:
        trees.put(tree)
    word = f"caught by {verdict.by}" if verdict.caught else "NOT CAUGHT"
    print(f"{mutant.guard}: {word}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
