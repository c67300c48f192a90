"""Measures the proxy for Claude: the same questions to the same API, with it and without it.

The last line is JSON. `ratio` is the time with the proxy by the time without it, of one run in
which both take turns; `added_ms` is the difference of the medians, if busy mostly waiting;
`cpu_ms` is the proxy's own time for a request; `rss_mb` its memory.
"""

import asyncio
import json
import os
import statistics
import sys
from typing import Final

import httpx2
import psutil

from benchmarks.output import say
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard_worker.parent.claude.access import ClaudeProxy
from switchyard_worker.parent.claude.link import Allowance
from switchyard_worker.parent.supervision.child_environment import Credential
from tests.fakes.servers.messages_api import messages_api

MODEL: Final = "claude-haiku-4-5"
KEY: Final = "sk-ant-benchmark"

clock = SystemClock()


async def main(count: int) -> int:
    with messages_api() as api:
        host = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": api.url}
        proxy = ClaudeProxy(
            Credential("ANTHROPIC_API_KEY", KEY), host, new_secret=SystemIds().new_secret
        )
        began = clock.monotonic()
        allowance = Allowance(request_id="r", models=[MODEL], seconds=900, cap_usd=100.0)
        access = await proxy.access(allowance)
        start_ms = (clock.monotonic() - began) * 1000
        task_ms = await _of_a_task(proxy, allowance)
        process = psutil.Process(proxy.process_id)
        async with httpx2.AsyncClient() as client:
            figures: dict[str, float] = {"start_ms": round(start_ms), "task_ms": round(task_ms, 2)}
            for name, body in _questions():
                direct, through, cpu = [], [], _cpu_seconds(process)
                for _ in range(count):
                    direct.append(await _asked(client, api.url, KEY, body))
                    given = access.given
                    through.append(await _asked(client, given.endpoint, given.token, body))
                figures |= _compared(name, direct, through)
                spent = _cpu_seconds(process) - cpu
                figures[f"{name}_cpu_ms"] = round(spent * 1000 / count, 2)
        figures["rss_mb"] = round(process.memory_info().rss / 2**20, 1)
        await access.revoke()
        await proxy.close()
    say(json.dumps(figures))
    return 0


async def _of_a_task(proxy: ClaudeProxy, allowance: Allowance, times: int = 50) -> float:
    """A token for an attempt, and its end."""
    began = clock.monotonic()
    for _ in range(times):
        await (await proxy.access(allowance)).revoke()
    return (clock.monotonic() - began) * 1000 / times


def _questions() -> list[tuple[str, bytes]]:
    def question(text: str) -> bytes:
        messages = [{"role": "user", "content": text}]
        asked = {"model": MODEL, "max_tokens": 1_000, "stream": True, "messages": messages}
        return json.dumps(asked).encode()

    return [("short", question("Choose.")), ("100_kb", question("word " * 20_000))]


async def _asked(client: httpx2.AsyncClient, url: str, key: str, body: bytes) -> float:
    began = clock.monotonic()
    answer = await client.post(f"{url}/v1/messages", content=body, headers={"x-api-key": key})
    if answer.status_code != 200 or b"message_stop" not in answer.content:
        raise SystemExit(f"{url} answered {answer.status_code}: {answer.text[:200]}")
    return clock.monotonic() - began


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _compared(name: str, direct: list[float], through: list[float]) -> dict[str, float]:
    without, with_it = statistics.median(direct), statistics.median(through)
    say(f"{name}: {without * 1000:.2f} ms without, {with_it * 1000:.2f} ms with the proxy")
    return {
        f"{name}_added_ms": round((with_it - without) * 1000, 2),
        f"{name}_ratio": round(with_it / without, 2),
    }


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)))
