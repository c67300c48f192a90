"""A process that owns a proxy, prints the proxy's process id, and waits to be killed."""

import asyncio
import os

from switchyard.adapters.system import SystemIds
from switchyard_worker.parent.claude.access import ClaudeProxy
from switchyard_worker.parent.claude.link import Allowance
from switchyard_worker.parent.supervision.child_environment import Credential


async def main() -> None:
    host = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    proxy = ClaudeProxy(
        Credential("ANTHROPIC_API_KEY", "sk-ant-canary"), host, new_secret=SystemIds().new_secret
    )
    await proxy.access(Allowance(request_id="r", models=["m"], seconds=60))
    os.write(1, f"proxy {proxy.process_id}\n".encode())
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
