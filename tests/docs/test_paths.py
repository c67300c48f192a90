"""Every path of the repository that a page names exists."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import ROOT

PAGES: Final = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
PACKAGE: Final = ROOT / "layers" / "shared" / "python" / "switchyard"
FORMER: Final = ("cli/", "local/", "worker/", "scenarios/", "adapters/memory")
"""Folders that were renamed."""
LEADING: Final = (
    {entry.name for entry in ROOT.iterdir() if entry.is_dir() and not entry.name.startswith(".")}
    | {entry.name for entry in PACKAGE.iterdir() if entry.is_dir()}
    | {former.partition("/")[0] for former in FORMER}
)
IN_BUCKETS: Final = ("events/", "task/")
MADE_LATER: Final = ("cdk.out", "node_modules")
_QUOTED: Final = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
_FENCED: Final = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
_LINK: Final = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
_HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)


def named_in(page: Path) -> set[str]:
    """Return what looks like a path: it begins with a folder of ours, or ends like a file."""
    text = _FENCED.sub("", page.read_text())
    return {
        path
        for path in _QUOTED.findall(text)
        if "/" in path
        and path.partition("/")[0] in LEADING
        and not path.startswith(MADE_LATER)
        and path not in IN_BUCKETS
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    missing = [
        path
        for path in sorted(named_in(page))
        if not any((folder / path).exists() for folder in (ROOT, PACKAGE, PACKAGE.parent))
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target, anchor in _LINK.findall(page.read_text()):
        linked = (page.parent / target).resolve()
        if not linked.exists() or (anchor and anchor[1:] not in anchors_of(linked)):
            broken.append(f"{target}{anchor}")
    assert not broken


def anchors_of(page: Path) -> set[str]:
    text = page.read_text()
    if page.suffix != ".md":
        return set()
    explicit = set(re.findall(r'<a id="([^"]+)"', text))
    return explicit | {_slug(heading) for heading in _HEADING.findall(_FENCED.sub("", text))}


def _slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
