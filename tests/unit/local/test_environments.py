from pathlib import Path

from switchyard_local.environments import aws_environment, bare_environment, download_environment
from switchyard_local.home import Home


def test_a_download_sees_proxies_and_caches_but_no_credentials() -> None:
    host = {
        "HOME": "/home/me",
        "https_proxy": "http://proxy",
        "UV_INDEX_URL": "http://mirror",
        "AWS_PROFILE": "prod",
        "ANTHROPIC_API_KEY": "sk",
        "PYTHONPATH": "/elsewhere",
    }
    seen = download_environment(host)
    assert seen.keys() == {"HOME", "https_proxy", "UV_INDEX_URL"}


def test_our_processes_have_a_home_and_temporary_files_of_their_own(tmp_path: Path) -> None:
    environment = bare_environment(Home(tmp_path))
    assert Path(environment["HOME"]).is_relative_to(tmp_path)
    assert Path(environment["TMPDIR"]).is_relative_to(tmp_path)


def test_aws_is_loopback_whatever_the_user_has_configured() -> None:
    environment = aws_environment(4580)
    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4580"
    assert environment["AWS_CONFIG_FILE"] == "/dev/null"
