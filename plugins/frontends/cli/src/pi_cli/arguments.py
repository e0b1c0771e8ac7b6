"""Parses the command line into ``Options``.

Handled here: our error messages for unknown options, ``@`` for files, messages after ``--``, options of plugins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_cli.option_table import common_options, flag_option, own_options, plugin_flags
from pi_cli.options import Options
from pi_cli.plain_line import read_plain
from pi_cli.prompt_options import parsed_prompt_options
from pi_hookspecs import UserError
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_cli.option_table import Option
    from pi_core import PluginRecord

__all__ = ["FirstWord", "first_word", "parse", "peek"]

_BUILTIN_TOOLS = ("read", "bash", "powershell", "edit", "write", "grep", "find", "ls", "process")


def peek(arguments: Sequence[str]) -> Options:
    """Parse as far as possible without knowing the plugins' options; raise no errors yet."""
    before, _ = _split(arguments)
    plain = read_plain(before, own_options())
    if plain is not None:
        return _options(plain.params, (), {})
    from pi_cli.click_line import parse_leniently

    return _options(parse_leniently(before), (), {})


@frozen(eq=False, repr=False)
class FirstWord(Value):
    """The first argument that is neither an option nor the value of one, where it may be a subcommand's name.

    Attributes:
        text: The word.
        before: The options before it.
        strays: The options in ``before`` that belong to a prompt and that no subcommand accepts.
        after: The arguments after it.
        stray_arguments: The strays with their values, as arguments.
    """

    text: str
    before: Options
    strays: tuple[str, ...]
    after: tuple[str, ...]
    stray_arguments: tuple[str, ...] = ()


def first_word(arguments: Sequence[str], records: Iterable[PluginRecord] = ()) -> FirstWord | None:
    """Return the word that may name a subcommand; None if the command line can only be a prompt.

    It is a prompt after ``-p``, ``--mode`` or ``--``, and when it contains spaces or names a file.
    Options of plugins are known from ``records`` alone; what follows any other may be its value.
    """
    flags = [*_flags(records).values()]
    flag_options = [flag_option(f"flag_{number}", flag) for number, flag in enumerate(flags)]
    argued, _ = _split(arguments)
    plain = read_plain(argued, [*own_options(), *flag_options], to_first_word=True)
    if plain is not None:
        params, given = plain
    else:
        from pi_cli.click_line import parse_to_first_word

        params, given = parse_to_first_word(argued, flag_options)
    words: tuple[str, ...] = params["words"] or ()
    before = _options({**params, "words": ()}, (), {})
    if not words or words[0].startswith(("-", "@")) or len(words[0].split()) != 1:
        return None
    if (
        before.print_only
        or before.attach
        or before.mode is not None
        or before.list_models is not None
        or before.export is not None
    ):
        return None
    taken = {name for option in common_options() for name in option.names}
    strays = {each.names[-1]: each for each in given if each.names[-1] not in taken}
    values = tuple(part for name, each in strays.items() for part in _written(name, each, params[each.destination]))
    return FirstWord(words[0], before, tuple(strays), tuple(arguments[len(argued) - len(words) + 1 :]), values)


def _written(name: str, option: Option, value: Any) -> Iterator[str]:
    """Yield the arguments that give an option its value."""
    if option.is_switch:
        yield name
        return
    for each in value if option.multiple else (value,):
        yield from (name, str(each))


def parse(arguments: Sequence[str], records: Iterable[PluginRecord] = ()) -> Options:
    """Parse the command line, with the options that these plugins registered.

    Raises:
        UnknownName: An unknown option; the message names the nearest.
        UserError: An option without its value, or options that exclude each other.
    """
    flags = _flags(records)
    names = {f"flag_{number}": name for number, name in enumerate(flags)}
    flag_options = [flag_option(destination, flags[name]) for destination, name in names.items()]
    before, after = _split(arguments)
    plain = read_plain(before, [*own_options(), *flag_options])
    if plain is not None:
        params = plain.params
    else:
        from pi_cli.click_line import parse_own

        params = parse_own(before, flag_options)
    given = {name: params[dest] if params[dest] is not None else _default(flags[name]) for dest, name in names.items()}
    return _checked(params, _options(params, after, given))


def _flags(records: Iterable[PluginRecord]) -> dict[str, dict[str, Any]]:
    return {flag["name"]: flag for _, flag, problem in plugin_flags(records) if problem is None}


def _default(flag: dict[str, Any]) -> bool | str | None:
    default: bool | str | None = flag["default"]
    return bool(default) if flag["type"] == "boolean" else default


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
        attach=params["attach"],
        ssh=params["ssh"],
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
    "attach": ("session", "continue_", "resume", "fork", "session_id", "no_session", "name", "model", "mode"),
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
        message = "--tools and --no-tools cannot be used together. Give one of them"
        raise UserError(message)
    for one, others in _EXCLUSIVE.items():
        given = [other for other in others if params[other]]
        if params[one] and given:
            message = f"{_option(one)} and {_option(given[0])} cannot be used together. Give one of them"
            raise UserError(message)
    for name in (
        "model",
        "provider",
        "api_key",
        "session",
        "session_dir",
        "session_id",
        "fork",
        "name",
        "export",
        "ssh",
    ):
        if params[name] is not None and not params[name].strip():
            message = f"Option '{_option(name)}' requires a value, not {params[name]!r}"
            raise UserError(message)
    if options.ssh is not None and not options.attach:
        message = "--ssh requires --attach: pi -p --attach --ssh HOST PROMPT. For a conversation: pi attach --ssh HOST"
        raise UserError(message)
    if options.all_models and options.list_models is None:
        message = "--all requires --list-models"
        raise UserError(message)
    if options.api_key is not None and options.model is None and options.provider is None:
        message = "--api-key requires a model. Add --model PROVIDER/ID"
        raise UserError(message)
    return options
