"""The options of ``pi``, as data: click, whose import takes 7 ms, is left to the command lines that need it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_core import PluginRecord

__all__ = ["Option", "common_options", "flag_option", "option_groups", "own_options", "plugin_flags", "prompt_options"]


class Option(NamedTuple):
    """One option.

    Attributes:
        names: Its spellings, the long one last.
        destination: The parameter that it sets.
        is_switch: It takes no value.
        metavar: Name of its value in the help text.
        help: Its description in the help text.
        multiple: It may be given repeatedly; its values are a tuple.
        bare: Its value when the command line gives none; None if a value is required.
        unset: The value of a switch that was not given.
    """

    names: tuple[str, ...]
    destination: str
    is_switch: bool
    metavar: str = ""
    help: str = ""
    multiple: bool = False
    bare: str | None = None
    unset: bool | None = False

    @property
    def written(self) -> str:
        """Its spelling: ``-p, --print`` or ``--model ID``."""
        names = ", ".join(self.names)
        return names if self.is_switch else f"{names} {self.metavar}"


@cache
def option_groups() -> dict[str, list[Option]]:
    """Return pi's own options under the headings of ``--help``."""
    return {
        "Run": [
            _switch("-p", "--print", "print_only", help="Print the answer and exit"),
            _value("--mode", metavar="NAME", help="Front end: text, json (events), or a plugin's"),
            _value("--tui-mode", metavar="NAME", help="Interactive mode: fullscreen, regular, or a name"),
            _value("--use-theme", metavar="NAME", help="Theme for this run: NAME, or LIGHT/DARK"),
            _switch("--json-full", help="With --mode json: whole messages in every event"),
            _switch("-a", "--approve", help="Trust this folder's own files for this run"),
            _switch("-na", "--no-approve", help="Do not trust it, whatever was decided before"),
            _switch("--offline", help="Download no packages; requests to the model are sent"),
            _switch("--verbose", help="Write more to stderr, including tracebacks"),
        ],
        "Session": [
            _switch("--attach", help="With -p: use the session served by pi serve"),
            _value("--ssh", metavar="HOST", help="With --attach: the session served on HOST"),
            _switch("-c", "--continue", "continue_", help="Continue the last session of this folder"),
            _switch("-r", "--resume", help="Choose a session of this folder to resume"),
            _value("--session", metavar="PATH|ID", help="Resume this session: a file, or the start of an id"),
            _value("--fork", metavar="PATH|ID", help="Continue in a copy of this session, in this folder"),
            _value("-w", "--worktree", metavar="NAME", help="Work in the git worktree NAME, created if needed"),
            _switch("--no-session", help="Do not store the session"),
            _value("--session-dir", metavar="DIR", help="Store sessions in this folder"),
            _value("--session-id", metavar="ID", help="Use the session with exactly this id, new if needed"),
            _value("-n", "--name", metavar="NAME", help="Display name of the session"),
            _value("--export", metavar="IN [OUT]", help="Export a session as .html, .md or .jsonl, and exit"),
        ],
        "Model": [
            _value("--model", metavar="ID", help="The model: PROVIDER/ID, an ID, or part of one"),
            _value("--provider", metavar="NAME", help="The provider of --model; alone, its default model"),
            _value("--api-key", metavar="KEY", help="API key for this run; it is not stored"),
            _value("--thinking", metavar="LEVEL", help="Reasoning effort: off, minimal, low, medium ..."),
            _value("--models", metavar="A,B", help="Models to cycle through: names, patterns, :LEVEL"),
            _value(
                "--list-models",
                metavar="[SEARCH]",
                bare="",
                help="List the usable models, or all that match; exit",
            ),
            _switch("--all", "all_models", help="With --list-models: also models without a key"),
        ],
        "Prompt": prompt_options(),
        "Tools and plugins": [
            _value(
                "-t",
                "--tools",
                metavar="A,B",
                help="Offer these and those of MCP servers: names, patterns (*), +NAME, -NAME",
            ),
            _value("-xt", "--exclude-tools", metavar="A,B", help="Offer all tools except these"),
            _switch("-nt", "--no-tools", help="Offer the model no tools"),
            _switch("-nbt", "--no-builtin-tools", help="Offer only tools of plugins and MCP servers"),
            _value(
                "-e",
                "--extension",
                "extensions",
                metavar="PATH",
                multiple=True,
                help="Load a file, package or requirement *",
            ),
            _switch("-ne", "--no-extensions", help="Load only the extensions of -e"),
            _switch("--watch", help="Reload local extensions when they change"),
            _value("--disable", "disabled", metavar="NAME", multiple=True, help="Do not load this plugin *"),
        ],
        "About": [
            _switch("-h", "--help", help="Print this help and exit"),
            _switch("-v", "--version", help="Print the version and exit"),
        ],
    }


def own_options() -> list[Option]:
    """Return all options of pi itself."""
    return [option for options in option_groups().values() for option in options]


def prompt_options() -> list[Option]:
    """Return the options about system prompt, skills, templates and themes."""
    return [
        _value("--system-prompt", metavar="TEXT|FILE", help="Replace pi's system prompt"),
        _value("--append-system-prompt", metavar="TEXT|FILE", multiple=True, help="Add to the system prompt *"),
        _switch("-nc", "--no-context-files", help="Ignore AGENTS.md and CLAUDE.md"),
        _value("--skill", metavar="PATH", multiple=True, help="Use this skill, or the skills in this folder *"),
        _switch("-ns", "--no-skills", help="Use only the skills of --skill"),
        _value("--prompt-template", metavar="PATH", multiple=True, help="Use this template or folder *"),
        _switch("-np", "--no-prompt-templates", help="Use only the templates of --prompt-template"),
        _value("--theme", metavar="PATH", multiple=True, help="Use this theme or folder *"),
        _switch("--no-themes", help="Use only the theme files of --theme"),
    ]


def common_options() -> list[Option]:
    """Return the options that may be given before any subcommand, and after those of pi itself.

    ``start`` handles all of them except ``--help``.
    """
    return [
        _switch("-h", "--help"),
        _switch("--verbose"),
        _switch("--offline"),
        _switch("-a", "--approve"),
        _switch("-na", "--no-approve"),
        _value("-e", "--extension", "extensions", multiple=True),
        _switch("-ne", "--no-extensions"),
        _value("--disable", multiple=True),
    ]


def plugin_flags(records: Iterable[PluginRecord]) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Yield the options that plugins registered.

    Yields:
        The plugin, the flag as data, and what is wrong with its name, else None.
    """
    own = {name for option in own_options() for name in option.names}
    for record in records:
        for flag in record.registers.get("register_flags", ()):
            name = f"--{flag['name']}"
            problem = None
            if name in own:
                problem = f"{name} is an option of pi itself, which is used"
            elif any(each == "=" or each.isspace() or not each.isprintable() for each in name):
                problem = f"{name!r} cannot be written as an option"
            yield record.name, flag, problem


def flag_option(destination: str, flag: dict[str, Any]) -> Option:
    """Return the option of a plugin's flag."""
    names = (f"--{flag['name']}",)
    return Option(names, destination, is_switch=flag["type"] == "boolean", metavar="TEXT", unset=None)


# A short form may have several letters, ``-na``.
def _switch(*words: str, help: str = "") -> Option:  # noqa: A002 - as click's
    return Option(*_spelled(words), is_switch=True, help=help)


def _value(
    *words: str,
    metavar: str = "",
    help: str = "",  # noqa: A002 - as click's
    multiple: bool = False,
    bare: str | None = None,
) -> Option:
    return Option(*_spelled(words), is_switch=False, metavar=metavar, help=help, multiple=multiple, bare=bare)


def _spelled(words: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Separate spellings and destination, which is by default the long name."""
    if words[-1][0] != "-":
        return words[:-1], words[-1]
    return words, words[-1].strip("-").replace("-", "_")
