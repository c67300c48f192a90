"""Secrets that were made up, the places where a child can put one, and what is promised of each.

Whoever finds a canary where redaction is promised has found a hole. The promise itself is in
`docs/security.md`; `test_canaries.py` compares its tables with these and with the code.
"""

from dataclasses import dataclass
from typing import Final

KEY: Final = "sk-ant-api03-canary0Key1_of-the2Stage3" + "q7Zx" * 12 + "AA"
"""The Claude key of a stage. No child has it; the tests pretend that one does."""


@dataclass(frozen=True, slots=True)
class Canary:
    kind: str
    """The name of its shape, as the code and the docs call it."""
    text: str
    """The secret as a program would print it, in one line or in several."""
    secret: str
    """What must not be left of it."""

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.text[:14]!r}"


def _whole(kind: str, *secrets: str) -> tuple[Canary, ...]:
    return tuple(Canary(kind, secret, secret) for secret in secrets)


_PEM: Final = "MIIEcanaryPrivateKeyLine{}AAAAAAAAAAAAAAAAAAAAAAAA"
_NAMED: Final = "values beside names like `password=`"
_KEYS: Final = "PEM private keys, also over several lines"


def _pem(label: str) -> tuple[Canary, ...]:
    lines = [f"-----BEGIN {label}-----", *map(_PEM.format, "123"), f"-----END {label}-----"]
    return tuple(Canary(_KEYS, "\n".join(lines), _PEM.format(line)) for line in "13")


CANARIES: Final = (
    *_whole(
        "keys and tokens of Anthropic",
        "sk-ant-api03-canaryAAAAAAAAAAAAAAAAAAAAAAAA-AA",
        "sk-ant-oat01-canaryBBBBBBBBBBBBBBBBBBBBBBBB_BB",
        "sk-ant-task-canaryCCCCCCCCCCCCCCCCCCCCCCCCCC",
        "sk-proj-canaryDDDDDDDDDDDDDDDDDDDDDDDD",
    ),
    *_whole("access key ids of AWS", "AKIACANARYAAAAAAAAAA", "ASIACANARYBBBBBBBBBB"),
    *_whole(
        "tokens of GitHub",
        "ghp_canaryAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "gho_canaryBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB",
        "ghu_canaryCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC",
        "ghs_canaryDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD",
        "ghr_canaryEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE",
        "github_pat_canaryFFFFFFFFFFFF_FFFFFFFFFFFFFFFFFF",
    ),
    *_whole("API keys of Switchyard", "swy.canary-shop.AAAAAAAAAAAAAAAAAAAAAAAA"),
    *_whole(
        "tokens of Slack",
        "xoxb-1111111111-canaryAAAAAAAAAAAA",
        "xoxp-2222222222-canaryBBBBBBBBBBBB",
        "xapp-1-A333333-canaryCCCCCCCCCCCC",
    ),
    *_whole(
        "signed tokens (JWT)", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canarySignatureAAAA"
    ),
    Canary(
        "Slack webhooks",
        "https://hooks.slack.com/services/T000CANARY/B000CANARY/canaryAAAAAAAAAAAA",
        "canaryAAAAAAAAAAAA",
    ),
    Canary("bearer and basic credentials", "Authorization: Bearer canary.AAAA-BBBB", "canary.AAAA"),
    Canary("bearer and basic credentials", "authorization: basic Y2FuYXJ5OnBhc3M=", "Y2FuYXJ5OnB"),
    Canary("logins in addresses", "postgres://user:canary-pass@db.example/x", "canary-pass"),
    Canary("logins in addresses", "https://canary-token-alone@git.example/x", "canary-token-alone"),
    Canary(_NAMED, "password=canary-hunter2", "canary-hunter2"),
    Canary(_NAMED, "AWS_SECRET_ACCESS_KEY=canary/wJalrXUtnFEMI+K7MDENG", "canary/wJalr"),
    Canary(_NAMED, '{"SecretAccessKey": "canary/xJalrXUtnFEMI"}', "canary/xJalr"),
    Canary(_NAMED, "aws_session_token = canaryIQoJb3JpZ2luX2VjEAAA", "canaryIQoJb3"),
    Canary(_NAMED, "'api-key': 'canary-api-key-1'", "canary-api-key-1"),
    *_pem("RSA PRIVATE KEY"),
    *_pem("OPENSSH PRIVATE KEY"),
    Canary("home folders", "/home/canary-person/notes.txt", "canary-person"),
)

FORMS: Final = '''
def forms_of(secret):
    """What a program can cheaply make of a secret, by the name of the encoding."""
    import base64, urllib.parse
    raw = secret.encode()
    every = "".join("%%%02X" % byte for byte in raw)
    return {
        "as it is": [secret],
        "reversed": [secret[::-1]],
        "hexadecimal": [raw.hex(), raw.hex().upper()],
        "base64": [base64.b64encode(b"abc"[:n] + raw + b"xyz"[:m]).decode()
                   for n in range(3) for m in range(3)],
        "base64, URL-safe": [base64.urlsafe_b64encode(b"abc"[:n] + raw).decode()
                             for n in range(3)],
        "percent-encoded": [every, every.lower(), urllib.parse.quote(secret)],
    }
'''
"""Runs in the tests and in the child: written apart from the code that it examines."""


PROGRAM: Final = (
    "import json, os, pathlib, sys, time\n"
    + FORMS
    + """
folder, here = pathlib.Path(sys.argv[-1]), pathlib.Path(__file__).parent
planted = json.loads((here / "planted.json").read_text())
token = os.environ["ANTHROPIC_API_KEY"]
(here / "token").write_text(token)
texts = [text for secret in (planted["key"], token)
         for forms in forms_of(secret).values() for text in forms]
spread = [" ".join(text) for text in texts]
shapes = planted["shapes"]
names = [text for text in texts if "/" not in text and len(text) < 200]

def answer(**facts):
    (folder / "outcome.json").write_text(json.dumps(facts))
    sys.exit(facts["status"] != "completed")

if "__failed" in str(folder):
    some = [*texts[:2], *texts[-2:], *shapes[:3], *shapes[-4:]]
    answer(status="failed", category="validation", error=f"planted {' '.join(some)} end")

if "__lines" in str(folder):
    for text in texts:
        print("lines", *text, sep="\\n")
    answer(status="completed", output={})

for stream in (sys.stdout, sys.stderr):
    for text in (*texts, *spread, *shapes):
        print(f"planted: {text} end", file=stream)
    for text in texts:
        print(f"{'x' * (8192 - 30)}{text}", file=stream)
    for text in (*texts, *(text for text in shapes if "\\n" not in text)):
        for hidden in "\\x07\\u200b":
            print("planted:", hidden.join(text), "end", file=stream)
    print(json.dumps(dict(os.environ)), file=stream)
for number, text in enumerate((*texts, *shapes)):
    marker = {"type": "sdk_query", "stepName": f"planted {text.splitlines()[0]}"}
    print("::step " + json.dumps(marker), flush=True)
for number, text in enumerate(texts):
    (folder / "artifacts" / f"file-{number}.txt").write_text(f"planted {text} end")
    (folder / "artifacts" / f"lines-{number}.txt").write_text("planted " + "\\n".join(text))
for number, text in enumerate(shapes):
    (folder / "artifacts" / f"shape-{number}.txt").write_text(f"planted {text} end")
for text in names:
    (folder / "artifacts" / f"named {text}").write_text("planted")
(folder / "artifacts" / "named password=canary-hunter2").write_text("planted")
for name in ("logs/summary.log", "logs/more.log", "traces/session_trace.json"):
    (folder / name).write_text(json.dumps({"planted": texts}))
time.sleep(1)  # so that heartbeats tell of it
answer(status="completed", output={
    "planted": [*texts, *spread, *shapes], "names": {text: 1 for text in texts}})
"""
)


@dataclass(frozen=True, slots=True)
class Promise:
    """What is removed in a place: keys of the platform, and other secrets by their shapes."""

    keys: bool
    shapes: bool


PLACES: Final = {
    "lines that a child prints, in the worker's log": Promise(keys=True, shapes=True),
    "`logs/stdout.log` and `logs/stderr.log`": Promise(keys=True, shapes=True),
    "what a child says it is doing, in heartbeats": Promise(keys=True, shapes=True),
    "errors of tasks, in tables, events, logs, alerts and webhooks": Promise(
        keys=True, shapes=True
    ),
    "errors of the worker itself": Promise(keys=True, shapes=True),
    "inputs and outputs of tools, in a trace": Promise(keys=True, shapes=True),
    "outputs of tasks, wherever they are stored or sent": Promise(keys=True, shapes=False),
    "contents of other files of a task": Promise(keys=True, shapes=False),
    "names of files of a task": Promise(keys=True, shapes=False),
    "inputs, definitions, job files, model names and parked messages": Promise(
        keys=False, shapes=False
    ),
}
