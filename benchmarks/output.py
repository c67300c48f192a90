"""Prints what a benchmark reports while it runs; its last line is for machines."""

import sys


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
