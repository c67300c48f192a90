"""What the page about deployments promises of machines without a terminal."""

import json

from tests.docs.pages import ROOT, SHELL, blocks_of, pages


def test_the_cdk_asks_for_no_approval() -> None:
    assert json.loads((ROOT / "cdk.json").read_text())["requireApproval"] == "never"


def test_the_pinned_cdk_is_installed_before_npx_would_fetch_another() -> None:
    blocks = [
        block.text for page in pages() for block in blocks_of(page) if block.language in SHELL
    ]
    with_npx = [text for text in blocks if "npx " in text]

    assert with_npx
    assert all(0 <= text.find("npm ci") < text.find("npx ") for text in with_npx)
