"""Replaces what differs between two runs of the same command: ids, times, sizes and places."""

import re
from typing import Final

_HEX: Final = "[0-9a-f]"
_MASKS: Final = [
    (re.compile(pattern), mask)
    for pattern, mask in (
        (rf"job-{_HEX}{{8}}(-{_HEX}{{4}}){{3}}-{_HEX}{{12}}", "JOB"),
        (r"^ .*worker/output/(\S+?)/\d+", r"OUTPUT/\1"),
        (r"switchyard-local-[\w…-]+", "BUCKET"),
        (rf"worker-{_HEX}{{12}}", "WORKER"),
        (r"\bprocess \d+", "process N"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "MINUTE"),
        (r"\d\d:\d\d:\d\d\.\d{3}", "TIME"),
        (r"(\d+ min )?\d+(\.\d+)? (ms|s|min|h)\b", "DURATION"),
        (r"\d+(\.\d+)? k?B\b", "SIZE"),
        (r"\d+ (tokens|events)", r"N \1"),
        (rf"trace is {_HEX}{{32}}", "trace is TRACE"),
        (r"the event [\w-]+", "the event EVENT"),
        (r"\d+ on$", "N on"),
        (r"of \d+ tenants", "of N tenants"),
        (r"tokens( +)\d+ in, \d+ out, \d+ from", "tokens N in, N out, N from"),
        (r"http://127\.0\.0\.1:\d+/\S+", "URL"),
        (r"[ ─-╿]+", " "),
    )
]
_PASSING: Final = re.compile(r"DURATION \S+ (waiting|pending|processing|partial_failure)\b")
"""A state that a watcher may or may not see, depending on when it asks."""


def masked(lines: list[str]) -> list[str]:
    """Return what two runs have in common, without empty lines and passing states."""
    replaced = (_without_what_differs(line) for line in lines)
    return [line for line in replaced if line and not _PASSING.match(line)]


def _without_what_differs(line: str) -> str:
    for pattern, mask in _MASKS:
        line = pattern.sub(mask, line)
    return line.strip()
