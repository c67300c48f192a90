"""A list in a file of JSON Lines is read in pieces, within limits, and wrong lines are named."""

from typing import Any

import pytest

from switchyard.domain.fan_out.fan_outs import MAX_LIST_BYTES
from switchyard.domain.fan_out.items import NotExpandable
from switchyard.domain.fan_out.json_lines import MAX_LINE_BYTES, JsonLines


def read(*pieces: bytes) -> list[Any]:
    lines = JsonLines("job/a.jsonl")
    for piece in pieces:
        lines.add(piece)
    return lines.values()


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (b"", []),
        (b"\n", []),
        (b"\n \r\n\n", []),
        (b"1", [1]),
        (b"1\n", [1]),
        (b'{"a": 1}\r\n"b"\r\n\r\n', [{"a": 1}, "b"]),
        (b'\xef\xbb\xbf"mark"\nnull\n', ["mark", None]),
        ('"ü\u2028"\n[]'.encode(), ["ü\u2028", []]),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_each_line_is_an_item_however_the_file_is_cut(
    content: bytes, values: list[Any], size: int
) -> None:
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    assert read(*pieces) == values


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1\n{a: 1}\n", "forEach: line 2 of job/a.jsonl is not JSON: Expecting property name"),
        (b"1\n\n2\n", "line 2 of job/a.jsonl is empty; only the end of the file may have empty"),
        (b"1 2\n", "line 1 of job/a.jsonl is not JSON: Extra data, at column 3"),
        (b"[1,\n2]", "line 1 of job/a.jsonl is not JSON"),
        (b'"\xff"', "line 1 of job/a.jsonl is not UTF-8"),
        (b"NaN", "line 1 of job/a.jsonl is not JSON: it has no NaN"),
        (b"1e999", "line 1 of job/a.jsonl contains inf, which JSON does not have"),
        (b"1" * 5000, "line 1 of job/a.jsonl is not JSON: Exceeds the limit"),
        (b'"\\ud800"', "line 1 of job/a.jsonl contains half of a character"),
        (b"[" * 100_000, "line 1 of job/a.jsonl is n"),
        (b"[" * 65 + b"]" * 65, "line 1 of job/a.jsonl is nested more than 64 levels"),
        (b"1\n" * 10_001, "job/a.jsonl has more than 10,000 items, which is the most"),
        (b" " * (MAX_LINE_BYTES + 1) + b"1", "line 1 of job/a.jsonl has more than 200,000 bytes"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(content: bytes, said: str) -> None:
    with pytest.raises(NotExpandable) as refused:
        read(content)
    assert said in str(refused.value)


def test_a_long_line_is_refused_before_its_end_has_come() -> None:
    lines = JsonLines("job/a.jsonl")
    with pytest.raises(NotExpandable, match="has more than 200,000 bytes"):
        lines.add(b"x" * (MAX_LINE_BYTES + 1))


def test_a_large_file_is_refused_before_its_end_has_come() -> None:
    lines, piece = JsonLines("job/a.jsonl"), b'"' + b"x" * 997 + b'"\n'
    for _ in range(MAX_LIST_BYTES // len(piece)):
        lines.add(piece)
    with pytest.raises(NotExpandable, match="a list in a file has at most 5,000,000"):
        lines.add(piece)
