"""Channels and webhooks that a job may name for its failures."""

import pytest

from switchyard.domain.jobs.notify import (
    Hook,
    hook_at,
    problem_with_channel,
    problem_with_hook,
    problem_with_url,
)

NOT_CHANNELS = (
    "",
    "alerts",
    "#",
    "#Über",
    "#a b",
    "#ops\n",
    "<!channel>",
    "#" + "a" * 81,
    "U123456",
)
NOT_URLS = {
    "": "printable",
    "hooks.example/x": "https://",
    "ftp://hooks.example/x": "https://",
    "file:///etc/passwd": "https://",
    "https://": "host",
    "https:///x": "host",
    "https://me:secret@hooks.example/": "credentials",
    "https://me@hooks.example/": "credentials",
    "https://hooks.example/#part": "fragment",
    "https://hooks.example/#": "fragment",
    "https://hooks.example:x/": "not a URL",
    "https://hooks.example:99999/": "not a URL",
    "https://hooks.example:0/": "not a URL",
    "https://[::1/": "not a URL",
    "https://hooks.example/a b": "printable",
    "https://hooks.example/\n": "printable",
    "https://hooks.example\\@evil.example/": "printable",
    "https://hööks.example/": "printable",
    "https://hooks%2eexample/": "host",
    f"https://hooks.example/{'x' * 1_980}": "2,000",
}


@pytest.mark.parametrize("name", ["#ops", "#a-b_c9", "C0123456789", "G01ABCDEF"])
def test_a_channel_is_a_name_or_an_id(name: str) -> None:
    assert problem_with_channel(name) is None


@pytest.mark.parametrize("name", NOT_CHANNELS)
def test_anything_else_is_no_channel(name: str) -> None:
    assert problem_with_channel(name)


@pytest.mark.parametrize(("url", "word"), NOT_URLS.items())
def test_a_url_that_no_stage_takes_is_refused_with_the_reason(url: str, word: str) -> None:
    assert word in (problem_with_url(url) or "")


@pytest.mark.parametrize(
    ("url", "hook", "authority"),
    [
        (
            "https://hooks.example",
            Hook(secure=True, host="hooks.example", port=443, target="/"),
            "hooks.example",
        ),
        (
            "HTTPS://Hooks.Example:443/a?b=c&d",
            Hook(secure=True, host="hooks.example", port=443, target="/a?b=c&d"),
            "hooks.example",
        ),
        (
            "http://[::1]:8080/a",
            Hook(secure=False, host="::1", port=8080, target="/a"),
            "[::1]:8080",
        ),
        (
            "http://localhost/",
            Hook(secure=False, host="localhost", port=80, target="/"),
            "localhost",
        ),
    ],
)
def test_a_url_is_taken_apart(url: str, hook: Hook, authority: str) -> None:
    assert problem_with_url(url) is None
    assert hook_at(url) == hook
    assert hook.authority == authority


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://hooks.example/", "https://"),
        ("https://hooks.example:8443/", "port"),
        ("https://10.0.0.1/", "private"),
        ("https://[::ffff:169.254.169.254]/", "link-local"),
    ],
)
def test_what_is_nearby_or_plain_is_for_stages_that_allow_it(url: str, word: str) -> None:
    hook = hook_at(url)
    assert problem_with_url(url) is None
    assert word in (problem_with_hook(hook, nearby_allowed=False) or "")


def test_what_is_public_and_secure_is_for_every_stage() -> None:
    assert problem_with_hook(hook_at("https://hooks.example/x"), nearby_allowed=False) is None
    assert problem_with_hook(hook_at("http://127.0.0.1:9/x"), nearby_allowed=True) is None
