"""Attacks on those who read a log: escape sequences, forged lines, printed secrets."""

from functools import partial
from typing import Final

from tests.security.attack import Attack, Group, Trace

log_attack = partial(Attack, group=Group.LOGS, trace=Trace.WORKER, needs_users=False)
ESCAPES: Final = ("\x1b", "\\u001b", "\\x1b", "\x9b", "\\u009b", "\u202e", "\\u202e")
VICTIM: Final = "job-00000000-0000-4000-8000-0000000000bb__victim"
SETTLED: Final = "task is settled"

ATTACKS: Final = (
    log_attack(
        name="escape sequences in its output",
        tries="prints sequences that clear a terminal, rename it and turn text around",
        program=r"""
os.write(1, b"attack \x1b[2J\x1b]0;owned\x07\x1b[31m \xc2\x9b2J \xe2\x80\xae gpj\n")
""",
        shows="attack ",
        hides=ESCAPES,
    ),
    log_attack(
        name="escape sequences in its error",
        tries="reports an error with escape sequences",
        program=r"""
answer(json.dumps({"status": "failed", "error": "bad \x1b[2J \u202e \x9b2J end"}))
os._exit(1)
""",
        shows="bad",
        hides=ESCAPES,
    ),
    log_attack(
        name="escape sequences in an outcome that is not understood",
        tries="names a member of its outcome with escape sequences",
        program=r"""answer(json.dumps({"status": "completed", "\x1b[2J\u202e": 1}))""",
        shows="cannot be understood",
        hides=ESCAPES,
    ),
    log_attack(
        name="a line that looks like the worker's own",
        tries="prints JSON that looks like a line of the worker's log",
        program=r"""
line = {"level": "INFO", "message": "task is settled", "request_id": "FORGED", "state": "COMPLETED"}
os.write(1, b"\r\n" + json.dumps(line).encode() + b"\n")
""",
        shows="FORGED",
        hides=('"request_id":"FORGED"', '\n{"level": "INFO"'),
    ),
    log_attack(
        name="the mark of another task",
        tries="prints a line that is marked as another task's output",
        program=f'os.write(1, b"[WORKFLOW:{VICTIM}] forged\\n\\r[WORKFLOW:{VICTIM}] forged\\n")',
        shows="forged",
        hides=(f'"message":"[WORKFLOW:{VICTIM}] forged', f'"message": "[WORKFLOW:{VICTIM}] forged'),
    ),
    log_attack(
        name="bytes that are no text",
        tries="prints bytes that are no UTF-8, and half characters",
        program=r"""os.write(1, b"attack \xff\xfe\xed\xa0\x80 \x00 end\n")""",
        shows="attack ",
        hides=("\x00",),
    ),
    log_attack(
        name="secrets of all kinds",
        tries="prints an API key, a Slack webhook, an AWS key, a token and a login in an address",
        program=r"""
for text in (
    "swy.acme.PRINTEDprintedPRINTEDprinted00000000000000000",
    "https://hooks.slack.com/services/T000/B000/PRINTEDprinted0000000000",
    "AKIAPRINTED000000000", "ghp_PRINTED0000000000000000000000000000",
    "https://user:PRINTED@example.com/", "Authorization: Bearer PRINTED0000000000000",
    "password=PRINTED",
):
    os.write(1, b"attack " + text.encode() + b"\n")
""",
        shows="attack ",
        hides=("PRINTED",),
    ),
    log_attack(
        name="a private key over several lines",
        tries="prints a PEM block line by line",
        program=r"""
os.write(1, b"-----BEGIN RSA PRIVATE KEY-----\n")
for _ in range(20): os.write(1, b"PRINTEDPRINTEDPRINTEDPRINTEDPRINTED\n")
os.write(1, b"-----END RSA PRIVATE KEY-----\n")
""",
        shows=SETTLED,
        hides=("PRINTEDPRINTED",),
    ),
    log_attack(
        name="an error of ten megabytes",
        tries="reports an error that is too long to be stored",
        program="""
answer(json.dumps({"status": "failed", "error": "x" * 10_000_000}))
os._exit(1)
""",
        shows=SETTLED,
        hides=("x" * 3_000,),
    ),
    log_attack(
        name="a category that does not exist",
        tries="reports a failure of a kind that nobody knows",
        program="""
answer(json.dumps({"status": "failed", "error": "x", "category": "\\x1b[2J"}))
os._exit(1)
""",
        shows="cannot be understood",
        hides=ESCAPES,
    ),
)
