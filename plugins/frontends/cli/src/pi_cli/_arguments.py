"""The command line's grammar: its options and their groups, and how they are parsed.

click parses the options. Added here: our own error messages for unknown options, ``@`` for files, messages after
``--``, and options of plugins.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import click
from attrs import frozen

from pi_cli._options import Options
from pi_cli._prompt_options import parsed_prompt_options, prompt_options
from pi_hookspecs import UnknownName, UserError
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_core.host import PluginRecord

__all__ = [
    "FirstWord",
    "common_options",
    "first_word",
    "option_groups",
    "parse",
    "parse_strictly",
    "peek",
    "plugin_flags",
    "written",
]

_BUILTIN_TOOLS = ("read", "bash", "edit", "write", "grep", "find", "ls", "process")

_HINT = "--help lists them; a message that starts with a dash goes after --"


@cache
def option_groups() -> dict[str, list[click.Option]]:
    """Return pi's own options under the headings of ``--help``; cached, since a command line is parsed repeatedly."""
    return {
        "Run": [
            _switch("-p", "--print", "print_only", help="Print the answer and end"),
            _value("--mode", metavar="NAME", help="Front end: text, json (events), or a plugin's"),
            _value("--tui-mode", metavar="NAME", help="To talk in: fullscreen, regular (a line), or a name"),
            _value("--use-theme", metavar="NAME", help="The theme of this run: a name, or light-name/dark-name"),
            _switch("--json-full", help="With --mode json: whole messages in every event"),
            _switch("-a", "--approve", help="Trust this folder's own files, in this run"),
            _switch("-na", "--no-approve", help="Do not, whatever was decided before"),
            _switch("--offline", help="Let pi itself fetch nothing but answers of the model"),
            _switch("--verbose", help="Tell more on stderr, tracebacks among it"),
        ],
        "Session": [
            _switch("-c", "--continue", "continue_", help="Go on with the last session of this folder"),
            _switch("-r", "--resume", help="Choose a session of this folder to go on with"),
            _value("--session", metavar="PATH|ID", help="Go on with this one: a file, or how its id begins"),
            _value("--fork", metavar="PATH|ID", help="Go on with a copy of it, in this folder"),
            _value("-w", "--worktree", metavar="NAME", help="Work in a git worktree of this name"),
            _switch("--no-session", help="Keep the conversation in memory only"),
            _value("--session-dir", metavar="DIR", help="Keep sessions in this folder"),
            _value("--session-id", metavar="ID", help="This folder's session of exactly this id, or a new one"),
            _value("-n", "--name", metavar="NAME", help="What the session is called in lists"),
            _value("--export", metavar="IN [OUT]", help="Write a session as HTML, or as OUT ends, and end"),
        ],
        "Model": [
            _value("--model", metavar="ID", help="Who answers: PROVIDER/ID, an ID, or a part of one"),
            _value("--provider", metavar="NAME", help="Where to look it up; alone, its default model"),
            _value("--api-key", metavar="KEY", help="The key for --model or --provider, this once"),
            _value("--thinking", metavar="LEVEL", help="How hard it thinks: off, minimal, low, medium ..."),
            _value("--models", metavar="A,B", help="Models to cycle through: names, patterns, :LEVEL"),
            _value(
                "--list-models",
                metavar="[SEARCH]",
                is_flag=False,
                flag_value="",
                help="List the models that can be used, or all that match, and end",
            ),
            _switch("--all", "all_models", help="With --list-models: those without a key, too"),
        ],
        "What the model is told": prompt_options(),
        "Tools and plugins": [
            _value(
                "-t",
                "--tools",
                metavar="A,B",
                help="Offer these, and those of MCP servers: names, patterns (*), +NAME, -NAME",
            ),
            _value("-xt", "--exclude-tools", metavar="A,B", help="Offer all but these"),
            _switch("-nt", "--no-tools", help="Offer the model no tools"),
            _switch("-nbt", "--no-builtin-tools", help="Offer none of pi's own tools"),
            _value(
                "-e",
                "--extension",
                "extensions",
                metavar="PATH",
                multiple=True,
                help="Run a file, package or requirement as a plugin *",
            ),
            _switch("-ne", "--no-extensions", help="Run no local extensions but those of -e"),
            _switch("--watch", help="Load local extensions again when they change"),
            _value("--disable", "disabled", metavar="NAME", multiple=True, help="Leave a plugin out *"),
        ],
        "About": [
            _switch("-h", "--help", help="Print this and end"),
            _switch("-v", "--version", help="Print the version and end"),
        ],
    }


def plugin_flags(records: Iterable[PluginRecord]) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Yield the options that plugins registered.

    Yields:
        The plugin, the flag as data, and what is wrong with its name, else None.
    """
    own = {name for options in option_groups().values() for option in options for name in option.opts}
    for record in records:
        for flag in record.registers.get("register_flags", ()):
            name = f"--{flag['name']}"
            problem = None
            if name in own:
                problem = f"{name} is an option of pi itself, which is used"
            elif any(each == "=" or each.isspace() or not each.isprintable() for each in name):
                problem = f"{name!r} cannot be written as an option"
            yield record.name, flag, problem


def peek(arguments: Sequence[str]) -> Options:
    """Parse as far as possible without knowing the plugins' options; raise no errors yet."""
    command = _command([])
    command.ignore_unknown_options = True
    known = {name for param in command.params for name in param.opts}
    letters = {name[1] for name in known if _is_letter(name)}
    readable = [
        argument
        for argument in _spelled_out(command, _split(arguments)[0])
        # click would read -nope as -n -o -p -e; letters with an unknown one are one unknown option
        if argument in known or argument[:1] != "-" or argument[:2] == "--" or {*argument[1:]} <= letters
    ]
    return _options(command.make_context("pi", readable, resilient_parsing=True).params, (), {})


@frozen(eq=False, repr=False)
class FirstWord(Value):
    """The first argument that is neither an option nor the value of one, where it may be a subcommand's name.

    Attributes:
        text: The word.
        before: The options before it.
        strays: Those of these options that belong to a prompt and that no subcommand accepts.
        after: The arguments after it.
    """

    text: str
    before: Options
    strays: tuple[str, ...]
    after: tuple[str, ...]


def first_word(arguments: Sequence[str], records: Iterable[PluginRecord] = ()) -> FirstWord | None:
    """Return the word that may name a subcommand; None where the command line can only be a prompt.

    It is a prompt after ``-p``, ``--mode`` or ``--``, and when it contains spaces or names a file.
    Options of plugins are known from ``records`` alone; what follows any other may be its value.
    """
    flags = {flag["name"]: flag for _, flag, problem in plugin_flags(records) if problem is None}
    command = _command([_flag_option(f"flag_{number}", flag) for number, flag in enumerate(flags.values())])
    command.ignore_unknown_options, command.allow_interspersed_args = True, False
    spelled = [*_spelled_out(command, _split(arguments)[0])]
    context = command.make_context("pi", spelled[:], resilient_parsing=True)
    words: tuple[str, ...] = context.params["words"] or ()
    before = _options({**context.params, "words": ()}, (), {})
    if not words or words[0].startswith(("-", "@")) or len(words[0].split()) != 1:
        return None
    if before.print_only or before.mode is not None or before.list_models is not None or before.export is not None:
        return None
    taken = {name for option in common_options() for name in option.opts}
    given = [each for each in command.params if context.get_parameter_source(each.name or "") is _TYPED]
    strays = tuple(each.opts[-1] for each in given if each.opts[-1] not in taken and each.name != "words")
    return FirstWord(words[0], before, strays, tuple(arguments[len(spelled) - len(words) + 1 :]))


_TYPED = click.core.ParameterSource.COMMANDLINE


def parse(arguments: Sequence[str], records: Iterable[PluginRecord] = ()) -> Options:
    """Parse the command line, with the options that these plugins registered.

    Raises:
        UnknownName: An unknown option; the message names the nearest.
        UserError: An option without its value, or options that exclude each other.
    """
    flags = {flag["name"]: flag for _, flag, problem in plugin_flags(records) if problem is None}
    before, after = _split(arguments)
    names = {f"flag_{number}": name for number, name in enumerate(flags)}
    command = _command([_flag_option(dest, flags[name]) for dest, name in names.items()])
    params = parse_strictly(command, before)
    given = {name: params[dest] if params[dest] is not None else _default(flags[name]) for dest, name in names.items()}
    return _checked(params, _options(params, after, given))


def common_options() -> list[click.Parameter]:
    """Return the options that may be given before any subcommand, and after those of pi itself.

    ``start`` handles all of them but ``--help``.
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


def parse_strictly(command: click.Command, arguments: Sequence[str]) -> dict[str, Any]:
    """Return a command's parameters; errors of click are converted to ours.

    Raises:
        UnknownName: An option that the command does not have.
        UserError: Any other error.
    """
    try:
        return command.make_context(command.name, [*_spelled_out(command, arguments)]).params
    except click.NoSuchOption as error:
        words = [name for param in command.params for name in param.opts if name.startswith("--")]
        known = words if error.option_name.startswith("--") else ()  # every single letter is near any other
        raise UnknownName("option", error.option_name, known, _HINT) from error
    except click.UsageError as error:
        raise UserError(error.format_message()) from error


def written(option: click.Option) -> str:
    """Return the spelling of an option: ``-p, --print`` or ``--model ID``."""
    names = ", ".join(option.opts)
    return names if option.is_flag else f"{names} {option.metavar}"


# A short form may have several letters, ``-na``: click takes an argument that is one of the names as a whole before it
# looks for single letters in it.
def _switch(*declarations: str, **how: Any) -> click.Option:
    return click.Option(declarations, is_flag=True, **how)


def _value(*declarations: str, **how: Any) -> click.Option:
    return click.Option(declarations, **how)


def _flag_option(destination: str, flag: dict[str, Any]) -> click.Option:
    if flag["type"] == "boolean":
        return click.Option([f"--{flag['name']}", destination], is_flag=True, flag_value=True, default=None)
    return click.Option([f"--{flag['name']}", destination], default=None)


def _default(flag: dict[str, Any]) -> bool | str | None:
    default: bool | str | None = flag["default"]
    return bool(default) if flag["type"] == "boolean" else default


def _command(more: Sequence[click.Option]) -> click.Command:
    own = [option for options in option_groups().values() for option in options]
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
    return click.Command("pi", params=[*own, *more, words], add_help_option=False)


def _spelled_out(command: click.Command, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments with short options replaced by their long names.

    click looks an argument up among the long names first, and otherwise compares it with all of them for suggestions,
    which takes longer than parsing the whole command line.
    """
    options = {name: each for each in command.params if isinstance(each, click.Option) for name in each.opts}
    is_value = False
    rest = iter(arguments)
    for argument in rest:
        option = None if is_value else options.get(argument)
        if argument == "--" and not is_value:
            yield argument
            yield from rest  # words, including those that look like an option
        else:
            is_value = option is not None and not option.is_flag and not isinstance(option.flag_value, str)
            yield option.opts[-1] if option is not None and _is_letter(argument) else argument


def _is_letter(name: str) -> bool:
    return len(name) == 2 and name[0] == "-"  # noqa: PLR2004 - a dash and a letter


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the arguments before and after the first ``--``."""
    if "--" not in arguments:
        return arguments, ()
    place = list(arguments).index("--")
    return arguments[:place], arguments[place + 1 :]


def _options(params: dict[str, Any], after: Sequence[str], flags: dict[str, bool | str | None]) -> Options:
    words = params["words"] or ()
    tools = _items(params["tools"]) if params["tools"] is not None else None
    excluded = _items(params["exclude_tools"] or "")
    return Options(
        messages=(*(word for word in words if not _is_file(word)), *after),
        files=tuple(word[1:] for word in words if _is_file(word)),
        print_only=params["print_only"],
        mode=params["mode"],
        tui_mode=params["tui_mode"],
        use_theme=params["use_theme"],
        json_full=params["json_full"],
        model=params["model"],
        provider=params["provider"],
        api_key=params["api_key"],
        list_models=params["list_models"],
        all_models=params["all_models"],
        tools=() if params["no_tools"] else tools,
        exclude_tools=(*excluded, *_BUILTIN_TOOLS) if params["no_builtin_tools"] else excluded,
        thinking=params["thinking"],
        models=_items(params["models"] or ""),
        no_session=params["no_session"],
        continue_=params["continue_"],
        resume=params["resume"],
        session=params["session"],
        session_dir=params["session_dir"],
        session_id=params["session_id"],
        fork=params["fork"],
        name=params["name"],
        worktree=params["worktree"],
        export=params["export"],
        disabled=tuple(params["disabled"] or ()),
        approve=True if params["approve"] else False if params["no_approve"] else None,
        prompt_options=parsed_prompt_options(params),
        extensions=tuple(params["extensions"] or ()),
        no_extensions=params["no_extensions"],
        watch=params["watch"],
        verbose=params["verbose"],
        offline=params["offline"],
        help=params["help"],
        version=params["version"],
        flags=flags,
    )


def _items(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list."""
    return tuple(item for item in map(str.strip, text.split(",")) if item)


def _is_file(word: str) -> bool:
    return len(word) > 1 and word.startswith("@")


_EXCLUSIVE = {
    "approve": ("no_approve",),
    "fork": ("session", "continue_", "resume", "no_session"),
    "session_id": ("session", "continue_", "resume"),
    "session": ("continue_", "resume", "no_session"),
    "continue_": ("resume", "no_session"),
    "resume": ("no_session",),
    "export": ("session", "continue_", "resume", "fork", "session_id", "no_session", "name"),
}
"""Options that exclude each other."""


def _option(name: str) -> str:
    return f"--{name.strip('_').replace('_', '-')}"


def _checked(params: dict[str, Any], options: Options) -> Options:
    """Return the options after checking that they do not contradict each other."""
    if params["no_tools"] and params["tools"] is not None:
        message = "--tools and --no-tools exclude each other. Give one of them"
        raise UserError(message)
    for one, others in _EXCLUSIVE.items():
        given = [other for other in others if params[other]]
        if params[one] and given:
            message = f"{_option(one)} and {_option(given[0])} exclude each other. Give one of them"
            raise UserError(message)
    for name in ("model", "provider", "api_key", "session", "session_dir", "session_id", "fork", "name", "export"):
        if params[name] is not None and not params[name].strip():
            message = f"Option '{_option(name)}' requires a value, and {params[name]!r} is none"
            raise UserError(message)
    if options.all_models and options.list_models is None:
        message = "--all goes with --list-models"
        raise UserError(message)
    if options.api_key is not None and options.model is None and options.provider is None:
        message = "--api-key needs a model to go with. Add --model PROVIDER/ID"
        raise UserError(message)
    return options
