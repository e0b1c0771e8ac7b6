"""Finds and runs the subcommand of a command line, and selects pi's own options for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from attrs import evolve

from pi_cli.arguments import first_word
from pi_cli.option_table import common_options
from pi_cli.own_stdout import keep_stdout, release_stdout
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_cli.arguments import FirstWord
    from pi_cli.options import Options
    from pi_core import PluginHost, PluginRecord
    from pi_hookspecs import Subcommand

__all__ = [
    "EXTRAS",
    "help_of_subcommand",
    "is_subcommand",
    "options_for",
    "refuse_as_prompt",
    "refuse_near_miss",
    "run_after_flags",
    "run_subcommand",
]

_HOOK = "register_subcommands"

_OURS = "pi_cli"
"""The module of this distribution's plugin."""

_NOT_AFTER_A_PLUGINS = ("approve", "extensions", "no_extensions", "mode")
"""Options that pi reads after the names of its own subcommands; after a plugin's they belong to the plugin."""

EXTRAS = {"mcp": "mcp", "models": "local"}
"""Subcommands of plugins that are not installed by default, and the extras of ``pluggypi`` with these plugins."""

_MEANT = {
    "packages": "list",
    "package": "list",
    "extensions": "plugins",
    "settings": "config",
    "upgrade": "update",
    "login": "auth login",
    "logout": "auth logout",
    "version": "--version",
    "resume": "--resume",
    "continue": "--continue",
}
"""Subcommands that other agents and package managers have, and what does the same here. As the only word of a command
line they are no prompt: a model has nothing to answer to it."""

_SHORTEST = 4
"""Characters of a word that can be a misspelt subcommand; shorter ones are too often near to one."""

_NEAR = 0.82
"""Similarity of a misspelt word and the subcommand that was meant, between 0 and 1."""

_INTERRUPTED = 130

_WITHOUT_EXTENSIONS = frozenset({"completion", "config", "plugin", "trust"})
"""Subcommands of pi that do not depend on local extensions, and so do not load them."""


def is_subcommand(word: str | None, host: PluginHost) -> bool:
    """Whether a word names a subcommand of pi or of an installed plugin, without importing it."""
    return word is not None and (word in _own() or bool(host.registering(_HOOK, word)))


def options_for(word: FirstWord, whole: Options, open_index: Callable[[], PluginHost]) -> Options:
    """Return the options of a whole command line that are pi's own, where its first word may be a plugin's subcommand.

    Args:
        word: The first word.
        whole: The options before and after it.
        open_index: Returns the installed plugins, none of which a project's settings have disabled.
    """
    before = word.before
    if all(getattr(whole, name) == getattr(before, name) for name in _NOT_AFTER_A_PLUGINS):
        return whole
    if not any(record.value != _OURS for record in open_index().registering(_HOOK, word.text)):
        return whole
    everywhere = ("disabled", "verbose", "offline", "help", "version")
    return evolve(before, **{name: getattr(whole, name) for name in everywhere})


def run_subcommand(
    word: FirstWord | None, host: PluginHost, load_extensions: Callable[[], None] | None = None
) -> int | None:
    """Run the subcommand that a word names, with the arguments after it.

    Args:
        word: The first word of the command line.
        host: The plugins.
        load_extensions: Loads local extensions into the host; None when they are loaded.

    Returns:
        Its exit code; None when the word names no subcommand.

    Raises:
        UserError: It belongs to a plugin that is disabled, or options of a prompt are given before it.
    """
    subcommand, ours = _find(host, word)
    if word is None or subcommand is None:
        return None
    if word.strays and not subcommand.takes_options:
        _refuse(word)
    _give_stdout(ours=ours)
    if load_extensions is not None and not (ours and word.text in _WITHOUT_EXTENSIONS):
        load_extensions()
    return _run(subcommand, (*word.stray_arguments, *word.after), host)


def help_of_subcommand(word: FirstWord | None, host: PluginHost) -> int | None:
    """Run the subcommand that a word names so that it prints its help; None when the word names none.

    No plugin is imported for the help of pi's own.
    """
    subcommand, ours = _own().get(word.text) if word is not None else None, True
    if subcommand is None:
        subcommand, ours = _find(host, word)
    if word is None or subcommand is None:
        return None
    _give_stdout(ours=ours)
    asked_before = word.before.help and not {"-h", "--help"} & {*word.after}
    return _run(subcommand, [*(["--help"] if asked_before else []), *word.after], host)


def _run(subcommand: Subcommand, arguments: Sequence[str], host: PluginHost) -> int:
    streams = sys.stdout, sys.stderr
    try:
        return subcommand.run([*arguments], host)
    except SystemExit:
        if (sys.stdout, sys.stderr) == streams:
            raise
        sys.stdout, sys.stderr = streams  # click exits so, in every mode, once the reader of its output has gone
        raise BrokenPipeError from None
    except Exception as error:
        _name_other_ways(error)
        code = _shown_by_click(error)
        if code is None:
            raise
        return code


_ELSEWHERE = {
    "--offline": "The variable PI_OFFLINE=1 does that",
    "--session-dir": "The variable PI_CODING_AGENT_SESSION_DIR or the setting sessionDir does that",
    "--model": "The settings defaultProvider and defaultModel do that",
    "--provider": "The setting defaultProvider does that",
    "--thinking": "The setting defaultThinkingLevel does that",
    "--models": "The setting enabledModels does that",
    "--use-theme": "The setting theme does that",
}
"""For options of a prompt, what has their effect on a command that does not take them."""

_NO_OPTION = r"(?:Unknown option|No such option|unrecognized arguments):? '?(--[a-z][a-z-]*)"


def _name_other_ways(error: Exception) -> None:
    """Add to an error about an unknown option the variable or setting that has its effect."""
    import re

    message = getattr(error, "message", None) or str(error)
    found = re.match(_NO_OPTION, message)
    if found is None or found[1] not in _ELSEWHERE:
        return
    message = f"{message.rstrip('.')}. {_ELSEWHERE[found[1]]}."
    if hasattr(error, "message"):
        error.message = message  # click's
    else:
        error.args = (message,)


def _shown_by_click(error: Exception) -> int | None:
    """Show an error of click as it does itself, and return its exit code; None for any other error.

    A plugin's subcommand can be a command of click that is run with ``standalone_mode=False``.

    Raises:
        KeyboardInterrupt: A signal has ended the command.
    """
    import click

    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if not isinstance(error, click.Abort):
        return None
    interrupt = error.__cause__ or error.__context__
    if isinstance(interrupt, KeyboardInterrupt):  # click hides which signal has ended the command
        raise interrupt
    return _INTERRUPTED


def _find(host: PluginHost, word: FirstWord | None) -> tuple[Subcommand | None, bool]:
    """Return the subcommand that a word names, and whether it is one of pi itself."""
    if word is None:
        return None, False
    found = host.find(_HOOK, word.text)
    if found is not None:
        record = host.records.get(found.plugin)
        return found.thing, record is not None and record.value == _OURS
    subcommand = _own().get(word.text)
    if subcommand is None:
        for record in host.records.values():
            if record.name in host.disabled and word.text in record.names(_HOOK):
                whose = f"{word.text!r} is a subcommand of plugin {record.name!r}, which is disabled"
                raise UserError(f"{whose}{_as_prompt(word.text)}")
    return subcommand, True


def _give_stdout(*, ours: bool) -> None:
    """Restore the stdout descriptor for a plugin's subcommand."""
    if ours:
        keep_stdout(when=True)
    else:
        release_stdout()


def run_after_flags(arguments: Sequence[str], host: PluginHost) -> int | None:
    """Run a subcommand that takes the options of a prompt, after an option of a plugin; return its exit code, or None.

    Without the plugins' options, ``first_word`` cannot distinguish its name from the value of such an option.
    """
    names = {name for name in host.registered_names(_HOOK) if " " not in name}
    if names.isdisjoint(arguments):
        return None
    word = first_word(arguments, host.registering("register_flags"))
    subcommand, _ = _find(host, word)
    return run_subcommand(word, host) if subcommand is not None and subcommand.takes_options else None


def refuse_as_prompt(arguments: Sequence[str], records: Sequence[PluginRecord], host: PluginHost) -> None:
    """Refuse a subcommand after an option of a plugin; else its name would be sent to the model.

    Raises:
        UserError: There is one.
    """
    word = first_word(arguments, records)
    if word is not None and is_subcommand(word.text, host):
        _refuse(word)


def refuse_near_miss(word: FirstWord | None, host: PluginHost) -> None:
    """Refuse a first word that is nearly a subcommand, or is one of a plugin that is not installed.

    Otherwise it would be sent to a model: a prompt of several words is usually one argument, and such a word is not.

    Raises:
        UserError: It is one.
    """
    if word is None or word.strays or is_subcommand(word.text, host):
        return
    import shlex

    from pi_core import install_command

    as_prompt = f"To send it as a prompt, put it after --: pi -- {shlex.join([word.text, *word.after])}"
    if word.text in EXTRAS:
        command = install_command(EXTRAS[word.text])
        raise UserError(f"The subcommand {word.text!r} is not installed; {command} adds it. {as_prompt}")
    from difflib import get_close_matches

    every = [*_own(), *(name for record in host.registering(_HOOK) for name in record.names(_HOOK)), *EXTRAS]
    names = [name for name in every if " " not in name]
    meant = {} if word.after else _MEANT
    known = [*names, *meant]
    near = [name for name in known if name == word.text or _is_swapped(word.text, name)]
    if not near and len(word.text) >= _SHORTEST:
        near = get_close_matches(word.text, known, 1, _NEAR)
    if near:
        mine = meant.get(near[0], near[0])
        raise UserError(f"There is no subcommand {word.text!r}. Did you mean {mine!r}? {as_prompt}")


def _is_swapped(word: str, name: str) -> bool:
    """Whether a word is a name of three letters or more with two neighbouring letters swapped."""
    if len(word) != len(name) or len(name) < 3:  # noqa: PLR2004 - two letters the other way round are another word
        return False
    places = [place for place, (one, other) in enumerate(zip(word, name, strict=True)) if one != other]
    first = places[0] if places else 0
    return places == [first, first + 1] and word[first : first + 2] == name[first : first + 2][::-1]


def _refuse(word: FirstWord) -> None:
    allowed = ", ".join(option.names[-1] for option in common_options())
    ways = "".join(f". {_ELSEWHERE[each]}" for each in word.strays if each in _ELSEWHERE)
    raise UserError(
        f"{', '.join(word.strays)} cannot be given before the subcommand {word.text!r}, only {allowed} can{ways}"
        f"{_as_prompt(word.text)}"
    )


def _as_prompt(word: str) -> str:
    return f". To send {word!r} as a prompt, put it after --"


def _own() -> dict[str, Subcommand]:
    """Return the subcommands of this distribution, which are available even if its plugin is disabled."""
    from pi_cli.registrations import register_subcommands

    return {each.name: each for each in register_subcommands()}
