"""The architecture picture: `make pictures` renders its Mermaid source to an SVG."""

import hashlib
import json
import re
from typing import Final

from stacks.paths import REPOSITORY

PAGE: Final = REPOSITORY / "docs" / "architecture.md"
PICTURE: Final = REPOSITORY / "docs" / "architecture.svg"
OPTIONS: Final = {
    # Labels are SVG text: an <img> or a converter may show no embedded HTML.
    "site_config": {"htmlLabels": False, "flowchart": {"htmlLabels": False}},
    "svg": {"root_background_color": "#ffffff"},
}


def source() -> str:
    """Return the first Mermaid diagram of the page."""
    found = re.search(r"^```mermaid\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no picture"
    return found[1]


def functions_in(text: str) -> set[str]:
    """Return the labels of rectangles, `id[label]`."""
    return set(re.findall(r"\w\[([^\[\]()]+)\]", text)) - set(titles_in(text))


def titles_in(text: str) -> list[str]:
    return re.findall(r"subgraph \w+ \[([^\]]+)\]", text)


def queues_in(text: str) -> set[str]:
    """Return the labels of queues, `id[[label]]`."""
    return set(re.findall(r"\[\[([^\]]+)\]\]", text))


def tables_in(text: str) -> set[str]:
    """Return the labels of cylinders, `id[(label)]`."""
    return set(re.findall(r"\[\(([^)]+)\)\]", text))


def origin() -> str:
    """Return the comment that says what a picture was rendered from."""
    made_from = hashlib.sha256((source() + json.dumps(OPTIONS)).encode()).hexdigest()
    return f"<!-- Rendered by `make pictures` from docs/architecture.md, {made_from} -->"


def main() -> None:
    from merman import Merman  # noqa: PLC0415 - 20 MB that no test needs

    PICTURE.write_text(f"{Merman().render_svg(source(), json.dumps(OPTIONS))}\n{origin()}\n")


if __name__ == "__main__":
    main()
