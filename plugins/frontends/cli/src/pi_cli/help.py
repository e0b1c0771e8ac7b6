"""The text of ``pi --help``: examples first, then options by group, then the additions of plugins."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from pi_cli.option_table import option_groups, plugin_flags
from pi_cli.words import one_line
from pi_core.host.discovery import find_plugins
from pi_core.host.guarded import guarded
from pi_core.host.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_core.host import PluginHost, PluginRecord

__all__ = ["ENVIRONMENT", "first_records", "help_text", "subcommands"]

_HEAD = """\
pi, a coding agent made of plugins.

Usage: pi [OPTIONS] [@FILE ...] [MESSAGE ...]
       pi SUBCOMMAND ...

Examples:
  pi --model offline/rules "List the files here"   try it: no key, no network
  pi "Why does this test fail?" @test.log          attach a file
  git diff | pi -p "Write a commit message"        read from a pipe
  pi -p --tools read,grep "Where do we retry?"     with these tools only
  pi -c -p "And now the tests"                     continue the last session
  pi plugins                                       list what is installed
"""

_TAIL = """
Options marked * can be repeated.
Several messages are sent one after another; what follows -- is a message.
Answers go to stdout, everything else to stderr.
Exit codes: 0 success, 1 error, 4 budget used up, 130 interrupted.
"""

ENVIRONMENT = (
    ("PI_CODING_AGENT_DIR", "Folder of settings, keys and sessions (~/.pi/agent)"),
    ("PI_CODING_AGENT_SESSION_DIR", "Folder of sessions, as --session-dir"),
    ("PI_DISABLE_PLUGINS=A,B", "Do not load these plugins, as --disable"),
    ("PI_OFFLINE=1", "As --offline"),
    ("PI_CACHE_RETENTION", "How long providers cache prompts: none, short, long"),
    ("PI_TRACE_HOOKS=1", "Write each hook call to stderr"),
    ("PI_LOG=debug", "Write a debug log, to logs in the agent directory; or info, warning"),
    ("PI_LOG_FILE", "File of the debug log"),
    ("NO_COLOR", "No colours"),
    ("HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY", "Proxies"),
    ("SSL_CERT_FILE, SSL_CERT_DIR", "Certificates to trust in place of the system's"),
)
"""Variables and their descriptions; docs/environment.md has all of them."""

_KEYS = "API keys of providers (pi auth login stores them as well): {}"

_UNKNOWN = "Options of {} are listed here once pi has run with it."

_WIDTH = 79
_COLUMN = 26


def help_text(records: Sequence[PluginRecord], unknown: Sequence[str] = ()) -> str:
    """Return the help, with the options and subcommands of these plugins; ``unknown`` ones are not indexed yet."""
    parts = [_HEAD, _section("Subcommands", subcommands(records))]
    for heading, options in option_groups().items():
        parts.append(_section(heading, ((option.written, option.help) for option in options)))
    plugins: dict[str, list[tuple[str, str]]] = {}
    for plugin, flag, problem in plugin_flags(records):
        if problem is None:
            plugins.setdefault(plugin, []).append(_flag(flag))
    parts += [_section(f"Plugin {plugin}", flags) for plugin, flags in plugins.items()]
    parts.append(_section("Environment", ENVIRONMENT))
    if keys := list(dict.fromkeys(_key_variables(records))):
        parts.append("\n" + "\n".join(wrap(_KEYS.format(" ".join(keys)), _WIDTH)) + "\n")
    if unknown:
        parts.append("\n" + "\n".join(wrap(_UNKNOWN.format(one_line(", ".join(unknown))), _WIDTH)) + "\n")
    return "".join([*parts, _TAIL])


def subcommands(records: Sequence[PluginRecord]) -> list[tuple[str, str]]:
    """Return names and descriptions of the subcommands: of pi itself, and of these plugins.

    Subcommands of two words, such as ``sessions search``, are in the help of the first word.
    """
    from pi_cli.registrations import register_subcommands

    described = {each.name: each.description for each in register_subcommands()}
    for record in records:
        described |= {each["name"]: each["description"] for each in record.registers.get("register_subcommands", ())}
    return [(name, description) for name, description in described.items() if " " not in name]


def _key_variables(records: Iterable[PluginRecord]) -> Iterator[str]:
    """Yield the environment variables of providers' keys."""
    for record in records:
        for provider in record.registers.get("register_models", ()):
            yield from provider["key_variables"]


def _flag(flag: dict[str, Any]) -> tuple[str, str]:
    usage = f"--{flag['name']}" if flag["type"] == "boolean" else f"--{flag['name']} TEXT"
    default = f" (default: {flag['default']})" if flag["default"] not in (None, False) else ""
    return usage, f"{flag['description']}{default}"


def _section(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"\n{heading}:"]
    for name, text in rows:
        first, *more = wrap(one_line(text), _WIDTH - _COLUMN - 2) or [""]
        gap = "\n" + " " * (_COLUMN + 2) if len(name) >= _COLUMN else " " * (_COLUMN - len(name))
        lines.append(f"  {name}{gap}{first}".rstrip())
        lines += [" " * (_COLUMN + 2) + line for line in more]
    return "\n".join(lines) + "\n"


_HOOKS = ("register_subcommands", "register_flags", "register_models")


def first_records(host: PluginHost) -> Iterator[PluginRecord]:
    """Yield pi's own plugins that are installed and enabled, with what ``--help`` lists of them.

    They are imported; third-party plugins are not: help must not run, or wait for, code that was never run before.
    """
    for record in find_plugins()[0]:
        if record.is_default and record.name not in host.disabled:
            with guarded(partial(host.report, record.name, "import"), record.name, "help", host.load_seconds):
                module = import_module(record.value)
                for hook in _HOOKS:
                    registered: list[Any] = getattr(module, hook, list)()
                    record.registers[hook] = [KINDS[hook].describe(each) for each in registered]
            yield record
