"""An attempt stays within its tokens: those of an answer are reserved beforehand."""

from concurrent.futures import ThreadPoolExecutor

from tests.fakes.servers.messages_api_replies import says
from tests.worker.proxied import SharedProxy, ask

DEAREST = says().costing(input_tokens=100, output_tokens=1_000, cache_read_input_tokens=0)


def test_fifty_requests_at_once_stay_within_the_tokens(claude_proxy: SharedProxy) -> None:
    with claude_proxy.a_task(DEAREST, cap_usd=1_000.0, cap_tokens=20_000) as (api, proxy, access):
        api.input_tokens = 100
        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: ask(access), range(50)))
        proxy.revoke(access)

    passed = [answer for answer in answers if answer.status == 200]
    assert 10 < len(passed) < 19
    assert access.usage.input_tokens + access.usage.output_tokens <= 20_000
    refused = next(answer for answer in answers if answer.status != 200)
    assert "maxTokens of this task is reached" in refused.error[1]
    assert access.spent.stopped == refused.error[1]
