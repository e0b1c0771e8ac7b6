"""The parts of a check that run the plugin: its import, and its hooks with the documentation's samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_cli.checking.children import Ended, run_child
from pi_cli.checking.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_cli.checking.findings import Level
    from pi_cli.checking.subject import Subject
    from pi_core import PluginHost

__all__ = ["check_contract", "check_import"]

_ROUNDS = 3
SLOW_MS, TOO_SLOW_MS = 20.0, 50.0
"""Import times in milliseconds that cause a warning and an error."""

_TOKENS = 1000
"""Size of a tool's declaration in tokens that causes a note: every request carries it."""

_HOOK_MS = 1000.0

_HEARD = {
    "process": "starts a process at import: {}",
    "socket": "opens a connection at import: {}",
    "write": "writes at import: {}",
}
_CHANGED = {
    "thread": "starts a thread at import",
    "environment": "changes the environment at import",
    "signal": "sets a signal handler at import",
    "sys.path": "changes sys.path at import",
    "stream": "replaces a standard stream at import",
    "folder": "changes the current folder at import",
}


def check_import(subject: Subject, scratch: Path) -> tuple[list[Finding], float | None]:
    """Import the plugin in separate processes; return the findings, and the fastest import in milliseconds."""
    times: list[float] = []
    answer: dict[str, Any] = {}
    printed = ""
    for _ in range(_ROUNDS):
        try:
            answer, printed = run_child("pi_cli.checking.import_child", subject, scratch)
        except Ended as ended:
            return [_error("import", f"It cannot be imported: {ended}")], None
        if answer["error"]:
            return [_error("import", f"It cannot be imported: {answer['error']}")], None
        times.append(answer["ms"])
    return [*_effects(answer, printed), *_slowness(min(times))], min(times)


def _effects(answer: dict[str, Any], printed: str) -> Iterator[Finding]:
    for kind, what in dict.fromkeys((kind, what) for kind, what in answer["events"]):
        yield _error("import", f"It {_HEARD[kind].format(what)}. Do it in activate(pi) or later")
    for name in answer["changed"]:
        yield _error("import", f"It {_CHANGED[name]}. Do it in activate(pi) or later")
    if printed.strip():
        yield _error("import", f"It prints at import: {printed.strip().splitlines()[0]!r:.100}")


def _slowness(ms: float) -> Iterator[Finding]:
    if ms > SLOW_MS:
        level: Level = "error" if ms > TOO_SLOW_MS else "warning"
        message = f"Its import takes {ms:.0f} ms, which delays the start of pi. Import large modules inside functions"
        yield Finding("import", level, message)


def check_contract(subject: Subject, host: PluginHost, scratch: Path) -> tuple[list[Finding], dict[str, Any]]:
    """Load the plugin like pi and call its hooks; return the findings, and what each plugin registers."""
    try:
        answer, _ = run_child("pi_cli.checking.contract_child", subject, scratch)
    except Ended as ended:
        return [_error("contract", f"Its hooks cannot be called: {ended}")], {}
    findings: list[Finding] = []
    for plugin in subject.plugins:
        if plugin not in answer:
            findings.append(_error("contract", f"pi does not find the plugin {plugin!r} where it is installed"))
        else:
            findings += [*_problems(answer[plugin]), *_calls(answer[plugin]), *_tools(answer[plugin])]
            findings += _conflicts(plugin, answer[plugin], host)
    return findings, answer


def _problems(found: dict[str, Any]) -> Iterator[Finding]:
    for each in found["problems"]:
        yield _error("contract", f"{each['step']}: {each['message']}")


def _calls(found: dict[str, Any]) -> Iterator[Finding]:
    for each in found["calls"]:
        if (each["failure"] or "").startswith("NoModel"):
            yield Finding("contract", "note", f"{each['hook']} needs a model; a check has none")
        elif each["outcome"] == "failed":
            yield _error(
                "contract", f"{each['hook']} fails with the sample event: {each['failure'] or 'no reason given'}"
            )
        elif each["ms"] > _HOOK_MS:
            yield Finding("contract", "warning", f"{each['hook']} takes {each['ms']:.0f} ms with the sample event")


def _tools(found: dict[str, Any]) -> Iterator[Finding]:
    for each in found["tools"]:
        if not each["described"]:
            yield Finding(
                "contract",
                "warning",
                f"The tool {each['name']!r} has no description, so models cannot know what it is for",
            )
        if each["bare"]:
            names = ", ".join(map(repr, each["bare"]))
            yield Finding("contract", "warning", f"The tool {each['name']!r} does not describe {names}")
        if each["tokens"] > _TOKENS:
            message = f"The tool {each['name']!r} adds about {each['tokens']} tokens to every request"
            yield Finding("contract", "note", message)


def _conflicts(plugin: str, found: dict[str, Any], host: PluginHost) -> Iterator[Finding]:
    for hook, names in found["registers"].items():
        for name in names:
            others = [each.name for each in host.registering(hook, name) if each.name != plugin]
            if others:
                kind = hook.removeprefix("register_").removesuffix("s").replace("_", " ")
                message = f"The {kind} {name!r} is also registered by {', '.join(others)}: only one of them is used"
                yield Finding("contract", "warning", message)


def _error(part: str, message: str) -> Finding:
    return Finding(part, "error", message)
