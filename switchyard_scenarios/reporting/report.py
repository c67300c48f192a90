"""`scenarios-report.html`: each scenario with its checks, its figures and its timeline."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final

from switchyard_scenarios.reporting.results import Result, last_line
from switchyard_scenarios.reporting.timeline import timeline

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2329; --dim: #68737d; --line: #d5dbe0; --page: #fff;
  --c0: #b45309; --c1: #2563eb; --c2: #15803d; --c3: #b91c1c; --c4: #7c3aed; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --dim: #98a3ad; --line: #39424a;
  --page: #14181c; --c0: #f0a35e; --c1: #7aa7ff; --c2: #5fc98a; --c3: #ff8080; --c4: #b99bff; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 860px; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.5rem 0 0; border-top: 1px solid var(--line); padding-top: 1.5rem; }
p.shows { margin: .2rem 0 .8rem; color: var(--dim); }
.verdict { font-weight: 700; } .PASS { color: var(--c2); } .FAIL { color: var(--c3); }
ul.checks { list-style: none; padding: 0; } .shown, time, .counts { color: var(--dim); }
table { border-collapse: collapse; } td, th { padding: .15rem .9rem .15rem 0; text-align: left; }
td { vertical-align: top; } td:not(.counts) { white-space: nowrap; }
ol { color: var(--dim); font-size: 13px; columns: 2; }
ol li { break-inside: avoid; overflow-wrap: anywhere; }
svg { width: 100%; font-size: 11px; fill: var(--ink); }
svg path { fill: none; stroke-width: 1.8; } svg .base { stroke: var(--line); }
svg path.c0 { stroke: var(--c0); } svg path.c1 { stroke: var(--c1); }
svg path.c2 { stroke: var(--c2); } svg path.c3 { stroke: var(--c3); }
svg path.c4 { stroke: var(--c4); } svg text.c0 { fill: var(--c0); }
svg text.c1 { fill: var(--c1); } svg text.c2 { fill: var(--c2); } svg text.c3 { fill: var(--c3); }
svg text.c4 { fill: var(--c4); } svg .mark line { stroke: var(--dim); stroke-dasharray: 2 3; }
svg .mark text, svg .tick { fill: var(--dim); text-anchor: middle; font-size: 10px; }
"""


def page(results: Sequence[Result], *, stage: str, now_ms: int) -> str:
    when = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width'>",
        f"<title>Queue scenarios</title><style>{_STYLE}</style></head><body>",
        f"<h1>Queue scenarios: {escape(last_line(results))}</h1>",
        f"<p class='shows'>Stage {escape(stage)}, {when}</p>",
        _overview(results),
        *map(_section, results),
        "</body></html>",
    ]
    return "\n".join(parts)


def _overview(results: Sequence[Result]) -> str:
    rows = [
        f"<tr><td><a href='#{result.name}'>{escape(result.title)}</a></td>"
        f"<td>{_verdict(result)}</td><td>{result.seconds:.1f} s</td>"
        f"<td class='counts'>{escape(result.summary)}</td></tr>"
        for result in results
    ]
    return f"<table>{''.join(rows)}</table>"


def _section(result: Result) -> str:
    early = f"<p class='FAIL'>{escape(result.ended_early)}</p>" if result.ended_early else ""
    return "\n".join(
        [
            f"<section id='{result.name}'><h2>{escape(result.title)} {_verdict(result)}</h2>",
            f"<p class='shows'>{escape(result.demonstrates)}</p>",
            early,
            _checks(result),
            timeline(result.evidence),
            _happenings(result),
            "</section>",
        ]
    )


def _verdict(result: Result) -> str:
    word = "PASS" if result.passed else "FAIL"
    return f"<span class='verdict {word}'>{word}</span>"


def _checks(result: Result) -> str:
    lines = [
        f"<li><span class='{'PASS' if check.held else 'FAIL'}'>{'✔' if check.held else '✘'}</span> "
        f"{escape(check.sentence)} <span class='shown'>{escape(check.shown)}</span></li>"
        for check in result.evidence.checks
    ]
    return f"<ul class='checks'>{''.join(lines)}</ul>"


def _happenings(result: Result) -> str:
    notes = sorted(result.evidence.notes, key=lambda note: note.at_ms)
    lines = [
        f"<li><time>{note.at_ms / 1000:.1f} s</time> {escape(f'{note.label} {note.value}')}</li>"
        for note in notes
    ]
    return f"<ol>{''.join(lines)}</ol>"
