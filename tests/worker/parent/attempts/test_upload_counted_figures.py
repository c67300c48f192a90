"""The figures of the API in files that a child wrote, whatever these say."""

import json

import pytest

from switchyard.domain.tasks.task import Usage
from switchyard_worker.boundary import SUMMARY_FILE, TRACE_FILE
from switchyard_worker.parent.attempts.counted_figures import with_counted

USAGE = Usage(input_tokens=36, output_tokens=15, cache_read_tokens=9, cost_usd=0.5)


@pytest.mark.parametrize(
    "written", [b"{}", b'{"counted": {"costUsd": 0}}', b'{"a": "}"}\n', b'{\n  "a": 1\n}\n \n']
)
def test_the_last_word_in_a_trace_is_ours(written: bytes) -> None:
    trace = json.loads(with_counted(TRACE_FILE, written, USAGE))

    assert trace.pop("counted")["costUsd"] == 0.5
    assert trace == {name: v for name, v in json.loads(written).items() if name != "counted"}


@pytest.mark.parametrize("written", [b"", b"[]", b"no JSON", b"{} and more"])
def test_what_is_no_trace_stays_as_it_is(written: bytes) -> None:
    assert with_counted(TRACE_FILE, written, USAGE) == written


def test_a_summary_states_no_other_figures() -> None:
    written = b"task      a\ntokens    9 in\ncost      9 USD\ncounted   9\n"

    assert with_counted(SUMMARY_FILE, written, USAGE).split(b"\n")[1:] == [b"task      a", b""]
    assert with_counted("artifacts/cost.txt", written, USAGE) == written
