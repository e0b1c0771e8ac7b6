"""From a command line to what it starts: help, a subcommand, or a front end with a session.

The order is that of pi.md 12.3: subcommands, a first look at the options, the plugins, all options with
the plugins' own among them, stdin, session, front end.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_cli._arguments import common_options, parse, peek, plugin_flags
from pi_cli._extensions import added_flags, find_sources, flags_at_run_time, load_extensions
from pi_cli._leftovers import LastMoment
from pi_cli._own_stdout import keep_stdout, says_whose_stdout_is
from pi_cli._project import open_host
from pi_cli._report import say, trace_line, warn
from pi_hookspecs import PiError, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_cli._options import Options
    from pi_core.extensions.places import ExtensionSource
    from pi_core.hooks.reports import HookTrace
    from pi_core.host import PluginHost
    from pi_hookspecs import Mode, Subcommand

__all__ = ["start"]

_NOTHING_TO_DO = (
    'Nothing to do: no prompt was given, and {}. Give a prompt, as in pi "What is in this folder?", or see pi --help'
)


def start(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the command line says and return the exit code.

    Raises:
        UserError: Something on the command line is wrong, or nothing can answer.
    """
    cwd = _working_directory()
    if "_PI_COMPLETE" in environ:
        return _complete(environ, cwd)
    early = peek(arguments)
    if early.offline:
        environ = {**environ, "PI_OFFLINE": "1"}
    keep_stdout(when=says_whose_stdout_is(early))  # before the first plugin is imported
    disabled = [*early.disabled, *_names(environ.get("PI_DISABLE_PLUGINS", ""))]
    word = _first_word(arguments, early)
    host = open_host(cwd, environ, early, disabled, word, interactive=_may_talk(early))
    if early.help or early.version:
        return _inform(early, host, word, arguments, partial(find_sources, host, cwd, early, environ))
    _check_disabled(early, host, partial(find_sources, host, cwd, early, environ))
    subcommand = _subcommand(host, word)
    if subcommand is not None:
        return subcommand.run([*arguments[1:]], host)
    keep_stdout(when=early.mode is None and not _may_interact(early))
    _check_order(arguments, early, host)
    load_extensions(host, cwd, early, environ)
    options = _options(arguments, host, environ)
    done = _without_a_session(options, host, cwd, environ)
    if done is not None:
        return done
    mode = _mode(options, host)
    if mode is not None and mode.name == "rpc" and options.files:
        raise UserError("@file arguments are not supported in RPC mode")
    alone = mode is None or mode.name in ("print", "json")  # nobody is asked for what was not said
    options = _with_prompts(options, cwd, piped=alone)
    if alone and not options.prompts:
        if options.print_only:
            return 0
        raise UserError(_NOTHING_TO_DO.format(_why_nobody_asks(options)))
    last_moment = LastMoment()
    try:
        return asyncio.run(_run(mode or _named_mode(host, "print"), options, host, cwd, environ, last_moment))
    finally:
        last_moment.is_over()


# Before any plugin


def _check_disabled(early: Options, host: PluginHost, extensions: Callable[[], list[ExtensionSource]]) -> None:
    for name in early.disabled:
        if name in host.records:
            continue
        local = [source.name for source in extensions()]
        if name not in local:
            raise UnknownName("plugin", name, [*host.records, *local], "pi plugins lists what is installed")


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        message = f"The working directory cannot be used: {error.strerror}. Change to one that exists"
        raise UserError(message) from error


def _complete(environ: Mapping[str, str], cwd: Path) -> int:
    from pi_cli._completion import VARIABLE, complete
    from pi_cli._known_flags import recall
    from pi_core.host import PluginHost
    from pi_core.settings import Settings

    host = PluginHost(Settings.load(cwd, environ=environ))
    learned, _ = recall(host, find_sources(host, cwd, peek([]), environ))
    return complete(environ[VARIABLE], [*host.indexed(), *learned])


def _names(text: str) -> list[str]:
    return [name for name in map(str.strip, text.split(",")) if name]


def _first_word(arguments: Sequence[str], early: Options) -> str | None:
    """Return what may be a subcommand's name: the first argument, without ``-p``."""
    first = arguments[0] if arguments else "-"
    return None if early.print_only or first.startswith(("-", "@")) else first


def _inform(
    early: Options,
    host: PluginHost,
    word: str | None,
    arguments: Sequence[str],
    extensions: Callable[[], list[ExtensionSource]],
) -> int:
    """Print version or help. No plugin is imported for it but the one whose subcommand was asked for its own.

    On the very first run all are, when help about a word is wanted: nobody knows yet whose it is.
    """
    from pi_cli import __version__
    from pi_cli._help import help_text

    own, records = _own_subcommands(), host.indexed()
    if word in own:
        return own[word].run([*arguments[1:]], host)
    if word is not None and not records:  # the very first run: what the word means is not known yet
        records = list(host.records.values())
    if word is not None and any(word in record.names("register_subcommands") for record in records):
        found = host.find("register_subcommands", word)
        if found is not None:
            subcommand: Subcommand = found.thing
            return subcommand.run([*arguments[1:]], host)
    if early.version:
        sys.stdout.write(f"{__version__}\n")
        return 0
    from pi_cli._known_flags import recall

    sources: list[ExtensionSource] = []
    with suppress(UserError):  # -e names what is not there; help is help all the same
        sources = extensions()
    more, unknown = recall(host, sources)
    sys.stdout.write(help_text([*records, *more], unknown))
    return 0


def _own_subcommands() -> dict[str, Subcommand]:
    """Return what this distribution brings; it is there even where its plugin is disabled."""
    from pi_cli._registrations import register_subcommands

    return {each.name: each for each in register_subcommands()}


# With plugins


def _subcommand(host: PluginHost, word: str | None) -> Subcommand | None:
    if word is None:
        return None
    found = host.find("register_subcommands", word)
    return found.thing if found is not None else _own_subcommands().get(word)


def _check_order(arguments: Sequence[str], early: Options, host: PluginHost) -> None:
    """Refuse a subcommand behind options that it takes itself: they would send its name to the model."""
    if early.print_only or not arguments or not arguments[0].startswith("-"):
        return
    takes = {name: option for option in common_options() for name in option.opts}
    rest = iter(arguments)
    for word in rest:
        name, given, _ = word.partition("=")
        if name not in takes:
            break
        if not given and not getattr(takes[name], "is_flag", True):
            next(rest, None)  # its value
    if not word.startswith(("-", "@")) and _subcommand(host, word) is not None:
        raise UserError(f"{word!r} is a subcommand, which comes first: pi {word} ... As a prompt it goes behind --")


def _options(arguments: Sequence[str], host: PluginHost, environ: Mapping[str, str]) -> Options:
    records = [*host.registering("register_flags"), *added_flags(host)]
    for plugin, _, problem in plugin_flags(records):
        if problem is not None:
            warn(f"Plugin {plugin!r} (register_flags): {problem}")
    plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
    color = sys.stderr.isatty() and not plain
    try:
        options = parse(arguments, records)
    except UnknownName:
        more = flags_at_run_time(host)  # an activation may bring it; other command lines need not wait for one
        if not more:
            raise
        options = parse(arguments, [*records, *more])
    return evolve(options, color=color)


def _without_a_session(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> int | None:
    """Do what needs no session, and return the exit code; None when there is nothing of the kind."""
    if options.list_models is not None:
        return _list_models(options.list_models, host, environ)
    if options.export is not None:
        from pi_cli._export import export

        return export(options, host, cwd, environ)
    return None


def _list_models(search: str, host: PluginHost, environ: Mapping[str, str]) -> int:
    from pi_cli._list_models import print_models
    from pi_core.models.registry import ModelRegistry

    registry = ModelRegistry(host, host.settings, environ)
    asyncio.run(registry.discover())
    print_models(registry, search)
    for problem in (*host.settings.problems, *host.problems, *registry.warnings):
        warn(problem)
    return 0


def _may_interact(options: Options) -> bool:
    """Whether there is somebody to talk to: not with ``-p``, and not with a pipe at either end."""
    return not options.print_only and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _may_talk(early: Options) -> bool:
    """Whether a conversation is to begin, as far as pi's own options say; the user can be asked before it then."""
    named = early.mode is not None or early.list_models is not None or early.export is not None
    return not named and _may_interact(early)


def _why_nobody_asks(options: Options) -> str:
    if options.mode is not None:
        return f"--mode {options.mode} asks for none"
    return "no interactive front end is installed" if _may_interact(options) else "there is no terminal to ask for one"


def _interactive_mode(host: PluginHost) -> Mode | None:
    """Return the best interactive front end that can be loaded; the later of two with one priority."""
    known = [
        (described["priority"], place, described["name"])
        for place, record in enumerate(host.registering("register_modes"))
        for described in record.registers["register_modes"]
        if described["interactive"]
    ]
    for _, _, name in sorted(known, reverse=True):
        found = host.find("register_modes", name)
        if found is not None:
            mode: Mode = found.thing
            return mode
    return None


def _mode(options: Options, host: PluginHost) -> Mode | None:
    """Return the front end that the options name, or the best one to talk in; None for the one that prints."""
    if options.mode is not None:
        return _named_mode(host, "print" if options.mode == "text" else options.mode)
    return _interactive_mode(host) if _may_interact(options) else None


def _named_mode(host: PluginHost, name: str) -> Mode:
    from pi_cli._registrations import register_modes

    found = host.find("register_modes", name)
    mode: Mode | None = found.thing if found is not None else None
    own = {each.name: each for each in register_modes()}  # there even where this plugin is disabled
    if mode is None and name not in own:
        known = {"text", *own} | {each for record in host.records.values() for each in record.names("register_modes")}
        raise UnknownName("mode", name, known, f"Known are {', '.join(sorted(known))}")
    return mode or own[name]


def _with_prompts(options: Options, cwd: Path, *, piped: bool) -> Options:
    from pi_cli._prompt_input import read_prompts, read_stdin

    text = read_stdin(sys.stdin) if piped else ""
    return evolve(options, prompts=read_prompts(options.messages, options.files, text, cwd))


# A session


async def _run(  # noqa: PLR0917 - everything that was found out so far
    mode: Mode,
    options: Options,
    host: PluginHost,
    cwd: Path,
    environ: Mapping[str, str],
    last_moment: LastMoment,
) -> int:
    """Make a session and let a front end drive it; the front end starts it and shuts it down."""
    import gc

    from pi_cli._model_choice import choose_model
    from pi_cli._session_choice import choose_session
    from pi_cli._told import resource_loader
    from pi_core.create import create_agent_session
    from pi_core.models.registry import ModelRegistry

    asyncio.get_running_loop().set_exception_handler(_complain)
    threading.excepthook = _complain_of_thread
    models = ModelRegistry(host, host.settings, environ)
    try:
        if options.resume:
            from pi_cli._resume import ask_for_session

            chosen = await ask_for_session(options, host, cwd, environ)
            if chosen is None:
                return 0
            options = evolve(options, session=chosen.path)
        manager = choose_session(options, host, cwd, environ)
        notice = host.settings.trust_of(manager.cwd).notice
        if notice is not None:
            warn(notice)
        choice = await choose_model(options, models, manager)
        for warning in choice.warnings:
            warn(warning)
        session = create_agent_session(
            cwd=manager.cwd,
            session_manager=manager,
            model=choice.model,
            thinking_level=choice.thinking_level,
            model_registry=models,
            tools=options.tools,
            exclude_tools=options.exclude_tools,
            resource_loader=resource_loader(options.told, environ),
            settings=host.settings,
            host=host,
            mode=mode.name,
            flags=options.flags,
            environ=environ,
            trace=_trace if environ.get("PI_TRACE_HOOKS") not in (None, "", "0") else None,
        )
    except PiError:
        for problem in (
            *host.settings.problems,
            *host.problems,
            *models.warnings,
        ):  # what is missing may be what could not be loaded
            warn(problem)
        raise
    if choice.scope:
        from pi_core.agent_session.choices import ScopedModel

        session.set_scoped_models([ScopedModel(each.model, each.thinking_level) for each in choice.scope])
    if options.watch:
        session.watch_extensions()
    gc.freeze()
    gc.enable()
    code = 1
    try:
        code = await mode.run(session, options)
    finally:
        last_moment.begins(code)
    from pi_cli._known_flags import remember

    remember(host, session.parts.activations.flags)
    return code


def _trace(call: HookTrace) -> None:
    say(trace_line(call))


def _complain(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell of an error that nobody waits for, in one line where asyncio would print a traceback."""
    from pi_core.host.guarded import told

    error = context.get("exception")
    warn(context["message"] if error is None else f"{context['message']}: {told(error)}")


def _complain_of_thread(failed: threading.ExceptHookArgs) -> None:
    """Tell of an error that ended a thread, as ``_complain`` does."""
    from pi_core.host.guarded import told

    name = failed.thread.name if failed.thread is not None else "unknown"
    if failed.exc_value is not None:
        warn(f"Thread {name!r} failed: {told(failed.exc_value)}")
