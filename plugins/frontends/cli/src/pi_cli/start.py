"""Dispatches a command line: help, a subcommand, or a front end with a session.

The order: a first parse of the options, the plugins, subcommands, local extensions, all options including those of
plugins, stdin, session, front end.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from attrs import evolve

from pi_cli.arguments import first_word, parse, peek
from pi_cli.extensions import FLAGS, SUBCOMMANDS, added_records, find_sources, flags_at_run_time, load_extensions
from pi_cli.mode_choice import has_terminal, interactive_modes, named_mode
from pi_cli.option_table import plugin_flags
from pi_cli.own_stdout import keep_stdout, reserves_stdout
from pi_cli.project import open_host
from pi_cli.report import warn
from pi_cli.subcommands import (
    help_of_subcommand,
    options_for,
    refuse_as_prompt,
    refuse_near_miss,
    run_after_flags,
    run_subcommand,
)
from pi_core.base.paths import access_problem
from pi_core.host.records import required_plugins
from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pi_cli.arguments import FirstWord
    from pi_cli.options import Options
    from pi_core import PluginHost
    from pi_core.host.extensions.places import ExtensionSource
    from pi_hookspecs import Mode

__all__ = ["start"]

_NOTHING_TO_DO = (
    'Nothing to do: no prompt was given, and {}. Give a prompt, as in pi "What is in this folder?", or see pi --help'
)


def start(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command line and return the exit code.

    Raises:
        UserError: The command line is invalid, or no model is usable.
    """
    cwd = _working_directory()
    if "_PI_COMPLETE" in environ:
        return _complete(environ, cwd)
    early = peek(arguments)
    disabled = [*early.disabled, *_names(environ.get("PI_DISABLE_PLUGINS", ""))]
    word = None if early.print_only else first_word(arguments)
    if word is not None:
        early = options_for(word, early, partial(_installed, cwd, environ, disabled))
    if early.offline:
        environ = {**environ, "PI_OFFLINE": "1"}
    # Before the first plugin is imported; a plugin's subcommand restores it.
    keep_stdout(when=reserves_stdout(early) or (early.mode is None and not _may_interact(early)))
    text = word.text if word is not None else None
    if early.worktree is not None and not (early.help or early.version):
        from pi_cli.worktree import enter_worktree

        cwd = enter_worktree(early.worktree, cwd, environ)
    host = open_host(cwd, environ, early, disabled, text, interactive=_may_talk(early), on_load=_log_of_loads(environ))
    sources = partial(find_sources, host, cwd, early, environ)
    load = partial(load_extensions, host, cwd, early, environ)
    if early.help or early.version:
        return _inform(early, host, word, sources, load)
    _check_disabled(early, host, sources)
    if not os.access(host.settings.agent_dir, os.R_OK | os.X_OK):
        _explain_agent_folder(host.settings.agent_dir)
    done = run_subcommand(word, host, load)
    if done is not None:
        return done
    load()
    done = run_subcommand(word, host)  # of a local extension
    if done is not None:
        return done
    done = None if early.print_only else run_after_flags(arguments, host)
    if done is not None:
        return done
    refuse_near_miss(word, host)
    return _prompt(_options(arguments, host, environ), host, cwd, environ)


def _prompt(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> int:
    """Run the options' action, once all plugins are loaded: list, export, or run a front end."""
    done = _without_a_session(options, host, cwd, environ)
    if done is not None:
        return done
    modes = iter(_modes(options, host))
    mode = next(modes, None)
    if mode is not None and mode.name == "rpc" and options.files:
        raise UserError("@file arguments are not supported in RPC mode")
    alone = mode is None or mode.name in ("print", "json")  # the user cannot be asked for what is missing
    resize = host.settings.get_bool("images.autoResize", default=True)
    options = _with_prompts(options, cwd, piped=alone, resize=resize)
    if alone and not options.prompts:
        if options.print_only and _is_pipe(sys.stdin):
            warn("Nothing was sent: stdin was empty, and no prompt was given")
            return 0  # in a pipeline an empty input is not an error
        raise UserError(_NOTHING_TO_DO.format(_why_none_is_asked_for(options)))
    from pi_cli.session_run import run_mode

    first = mode or named_mode(host, "print")
    return run_mode(chain([first], modes), options, host, cwd, environ)


# Before any plugin


def _check_disabled(early: Options, host: PluginHost, extensions: Callable[[], list[ExtensionSource]]) -> None:
    for name in early.disabled:
        if name in host.records or name in required_plugins(host.settings):
            continue
        local = [source.name for source in extensions()]
        if name not in local and name not in _missing_guards(host):
            raise UnknownName("plugin", name, [*host.records, *local], "pi plugins lists what is installed")


def _missing_guards(host: PluginHost) -> set[str]:
    """Return the plugins whose packages are not installed, and which may be disabled for that reason."""
    from pi_core.host.package_resources import names_of_missing_guards  # only if a name is unknown

    return names_of_missing_guards(host.settings)


def _explain_agent_folder(folder: Path) -> None:
    """Say what to do about files that cannot be read, before each reader of one says that it cannot."""
    problem = access_problem(folder)
    if problem is not None:
        warn(". ".join(problem))


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        message = f"The working directory cannot be used: {error.strerror}. Change to one that exists"
        raise UserError(message) from error


def _complete(environ: Mapping[str, str], cwd: Path) -> int:
    from pi_cli.completion import VARIABLE, complete
    from pi_cli.known_flags import recall
    from pi_core import PluginHost, Settings
    from pi_core.host.overlay import join_packages

    host = PluginHost(Settings.load(cwd, environ=environ))
    join_packages(host.settings, cwd)
    learned, _ = recall(host, find_sources(host, cwd, peek([]), environ))
    return complete(environ[VARIABLE], [*host.indexed(), *learned])


def _log_of_loads(environ: Mapping[str, str]) -> Callable[[str, float | None], None] | None:
    """Start the debug log if requested, before the first plugin is loaded."""
    if not environ.get("PI_LOG"):
        return None
    from pi_core.conversation.debug_log import open_debug_log

    return open_debug_log(environ).loading


def _names(text: str) -> list[str]:
    return [name for name in map(str.strip, text.split(",")) if name]


def _installed(cwd: Path, environ: Mapping[str, str], disabled: Sequence[str]) -> PluginHost:
    from pi_core import PluginHost, Settings
    from pi_core.host.overlay import join_packages

    host = PluginHost(Settings.load(cwd, environ=environ, trust=False), disabled=disabled)
    join_packages(host.settings)
    return host


def _inform(
    early: Options,
    host: PluginHost,
    word: FirstWord | None,
    extensions: Callable[[], list[ExtensionSource]],
    load: Callable[[], None],
) -> int:
    """Print the version, the help of a subcommand, or that of pi.

    Plugins are read from the index. Without an index only pi's own plugins are imported, no third-party code, except
    for help about a word, which may be a subcommand of any plugin; only then, and for ``-e``, extensions are loaded.
    """
    from pi_cli import __version__
    from pi_cli.help import first_records, help_text
    from pi_cli.known_flags import recall

    asked = word if word is not None and not word.before.version else None
    done = help_of_subcommand(asked, host)
    if done is not None:
        return done
    if early.version:
        sys.stdout.write(f"{__version__}\n")
        return 0
    sources: list[ExtensionSource] = []
    with suppress(UserError):  # the argument of -e does not exist; help works anyway
        sources = extensions()
        if early.extensions or (asked is not None and " " not in asked.text):
            load()
            done = help_of_subcommand(asked, host)
            if done is not None:
                return done
            local = {each.name for each in sources}
            for problem in host.problems:
                if problem.plugin in local:
                    warn(str(problem))
    sources = [each for each in sources if each.name not in host.added()]
    more, unknown = recall(host, sources)
    loaded = added_records(host, FLAGS, SUBCOMMANDS)
    sys.stdout.write(help_text([*(host.indexed() or first_records(host)), *loaded, *more], unknown))
    return 0


# With plugins


def _options(arguments: Sequence[str], host: PluginHost, environ: Mapping[str, str]) -> Options:
    records = [*host.registering(FLAGS), *added_records(host, FLAGS)]
    for plugin, _, problem in plugin_flags(records):
        if problem is not None:
            warn(f"Plugin {plugin!r} (register_flags): {problem}")
    plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
    color = sys.stderr.isatty() and not plain
    try:
        options = parse(arguments, records)
    except UnknownName:
        more = flags_at_run_time(host)  # ``activate`` may register it; other command lines do not wait for that
        if not more:
            raise
        records += more
        options = parse(arguments, records)
    if not options.print_only:
        refuse_as_prompt(arguments, records, host)
    return evolve(options, color=color)


def _without_a_session(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> int | None:
    """Run an action that needs no session, and return the exit code; None when there is none."""
    if options.list_models is not None:
        from pi_cli.list_models import list_models

        return list_models(options.list_models, host, environ, everything=options.all_models)
    if options.attach:
        from pi_cli.attached import ask_served

        return ask_served(options, host, cwd)
    if options.export is not None:
        from pi_cli.export import export

        return export(options, host, cwd, environ)
    return None


def _may_interact(options: Options) -> bool:
    """Whether the run can be interactive: not with ``-p``, and not with a pipe at either end."""
    return not options.print_only and has_terminal()


def _may_talk(early: Options) -> bool:
    """Whether the run may be interactive, according to pi's own options; the user can then be asked before it."""
    named = early.mode is not None or early.list_models is not None or early.export is not None
    return not named and _may_interact(early)


def _is_pipe(stdin: TextIO | None) -> bool:
    return stdin is not None and not stdin.isatty()


def _why_none_is_asked_for(options: Options) -> str:
    if options.mode is not None or options.print_only:
        return f"{'-p' if options.mode is None else f'--mode {options.mode}'} asks for none"
    return "no interactive front end is installed" if _may_interact(options) else "there is no terminal to ask for one"


def _modes(options: Options, host: PluginHost) -> list[Mode] | Iterator[Mode]:
    """Return the front end that the options name, or the interactive ones, best first; empty for ``print``."""
    if options.mode is not None:
        return [named_mode(host, "print" if options.mode == "text" else options.mode)]
    return interactive_modes(host, options) if _may_interact(options) else []


def _with_prompts(options: Options, cwd: Path, *, piped: bool, resize: bool) -> Options:
    from pi_cli.prompt_input import read_prompts, read_stdin

    text = read_stdin(sys.stdin) if piped else ""
    return evolve(options, prompts=read_prompts(options.messages, options.files, text, cwd, resize=resize))
