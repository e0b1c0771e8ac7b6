"""A session for one front end: selects the model and the stored session, then runs the front end."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_cli.leftovers import LastMoment
from pi_cli.mode_choice import has_terminal
from pi_cli.report import say, trace_line, warn
from pi_core.agent.safe_text import exception_location
from pi_core.hooks.steady_loop import steady_loop, was_reported
from pi_hookspecs import NoModel, PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pi_cli.model_choice import ModelChoice
    from pi_cli.options import Options
    from pi_core.conversation import AgentSession
    from pi_core.hooks.reports import HookTrace
    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_hookspecs import Mode

__all__ = ["run_mode"]


def run_mode(modes: Iterator[Mode], options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> int:
    """Run the first of these front ends that can be prepared, on a new event loop, and return the exit code.

    Raises:
        PiError: The session cannot run: no model, no such session, an unusable file.
    """
    last_moment = LastMoment()
    try:
        with asyncio.Runner(loop_factory=partial(steady_loop, partial(_plugin_that_raised, host))) as runner:
            return runner.run(_run(modes, options, host, cwd, environ, last_moment))
    except (PiError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if last_moment.stopped_by is not None:
            error.add_note(f"plugin {last_moment.stopped_by!r} stopped it")
        elif (raised_by := _plugin_that_raised(host, error)) is not None:
            error.add_note(f"plugin {raised_by!r} raised it{exception_location(error)}")
        raise
    finally:
        last_moment.is_over()


def _plugin_that_raised(host: PluginHost, error: BaseException) -> str | None:
    """Return the plugin whose code is innermost in the traceback of an exception; None if no plugin's is there."""
    from traceback import walk_tb

    from pi_core.host.owners import CodeOwners

    owners = CodeOwners(host)
    found = [owners.plugin_of(frame) for frame, _ in walk_tb(error.__traceback__) if not owners.is_pi(frame)]
    return next((each for each in reversed(found) if each is not None), None)


async def _run(  # noqa: PLR0917 - the state collected so far
    modes: Iterator[Mode],
    options: Options,
    host: PluginHost,
    cwd: Path,
    environ: Mapping[str, str],
    last_moment: LastMoment,
) -> int:
    """Create a session and pass it to the front end, which starts it and shuts it down."""
    from pi_cli.blocked import BlockLine
    from pi_cli.preparing import prepared, start_facts
    from pi_core.hooks.loop_watch import displaying_blocks
    from pi_core.host.owners import CodeOwners, code_owners

    owners = CodeOwners(host)
    last_moment.watch_loop(partial(_report_loop_error, host), owners)
    threading.excepthook = partial(_report_thread_error, host)
    models: ModelRegistry | None = None
    code_owners.set(owners)
    try:
        first = next(modes)
        if options.resume and not first.asks_for_session:  # asked now: the front end may take the terminal over
            options = await _choose_session(options, host, cwd, environ)
        if options.session is not None and first.interactive and has_terminal():
            options = await _choose_folder(options, host, cwd, environ)
        with (
            prepared(chain((first,), modes), start_facts(options, host, cwd, environ)) as mode,
            displaying_blocks(BlockLine()),
        ):
            if options.resume and options.session is None and not mode.asks_for_session:
                options = await _choose_session(options, host, cwd, environ)
            from pi_core.models.registry import ModelRegistry

            models = ModelRegistry(host, host.settings, environ)
            last_moment.session = await _create(mode, options, models, cwd, environ)
            return await _drive(mode, last_moment.session, options, last_moment)
    except _NoSessionWanted:
        return 0
    except PiError:
        if last_moment.session is None:  # what is missing may belong to a plugin that failed to load
            for problem in (*host.settings.problems, *host.problems, *(models.warnings if models is not None else ())):
                warn(problem)
        raise


class _NoSessionWanted(Exception):
    """The user has dismissed the question which session to continue."""


async def _choose_session(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> Options:
    """Ask which session to continue, and return the options with it."""
    from pi_cli.resume import ask_for_session

    chosen = await ask_for_session(options, host, cwd, environ)
    if chosen is None:
        raise _NoSessionWanted
    return evolve(options, session=chosen.path)


async def _choose_folder(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> Options:
    """Ask where to continue a session of another folder, and return the options with the answer."""
    from pi_cli.resume import line_ui
    from pi_cli.session_folder import ask_for_folder

    chosen = await ask_for_folder(options, host, cwd, environ, line_ui)
    if chosen is None:
        raise _NoSessionWanted
    return chosen


async def _create(
    mode: Mode, options: Options, models: ModelRegistry, cwd: Path, environ: Mapping[str, str]
) -> AgentSession:
    """Return the session of a front end, not started. If there is none, what it would have displayed is printed."""
    from pi_cli.session_choice import choose_session

    manager = choose_session(options, models.host, cwd, environ)
    folder = str(cwd) if options.is_moved else manager.cwd
    try:
        return await _create_for(manager, folder, mode, options, models, environ)
    except PiError:
        for notice in manager.notices:
            warn(notice)
        raise


async def _create_for(  # noqa: PLR0917 - the state collected so far
    manager: SessionManager,
    folder: str,
    mode: Mode,
    options: Options,
    models: ModelRegistry,
    environ: Mapping[str, str],
) -> AgentSession:
    from pi_cli.prompt_options import resource_loader
    from pi_core.conversation.toolbox import with_mcp_tools
    from pi_core.create import create_agent_session
    from pi_core.host.extras import missing_extras

    host = models.host
    # As notices of the session, which front ends display: the screen would cover lines that are printed here.
    notice = host.settings.trust_of(folder).notice
    if notice is not None:
        manager.notice(notice)
    for message, remedy in missing_extras(host, folder):
        manager.notice(f"{message}; {remedy}")
    choice = await _choose_model(options, models, manager, required=not mode.runs_without_model)
    for warning in choice.warnings:
        manager.notice(warning)
    session = create_agent_session(
        cwd=folder,
        session_manager=manager,
        model=choice.model,
        thinking_level=choice.thinking_level,
        model_required=not (mode.runs_without_model or choice.is_open),
        model_registry=models,
        tools=with_mcp_tools(options.tools),
        exclude_tools=options.exclude_tools,
        resource_loader=resource_loader(options.prompt_options, environ),
        settings=host.settings,
        host=host,
        mode=mode.name,
        flags=options.flags,
        environ=environ,
        trace=_trace if environ.get("PI_TRACE_HOOKS") not in (None, "", "0") else None,
    )
    _set_scope(session, choice)
    if choice.is_open:

        async def choose() -> None:
            found = await _choose_model(options, models, manager, required=not mode.runs_without_model, is_last=True)
            if found.model is not None:
                await session.set_model(found.model, persist=False)
                if found.thinking_level is not None:
                    await session.set_thinking_level(found.thinking_level, persist=False)
            _set_scope(session, found)

        session.parts.lifecycle.choose = choose
    return session


def _set_scope(session: AgentSession, choice: ModelChoice) -> None:
    if choice.scope:
        from pi_core.conversation.model_selection import ScopedModel

        session.set_scoped_models([ScopedModel(each.model, each.thinking_level) for each in choice.scope])


async def _drive(mode: Mode, session: AgentSession, options: Options, last_moment: LastMoment) -> int:
    import gc

    from pi_cli.hook_calls import remember_calls
    from pi_cli.known_flags import remember
    from pi_core.host.sudden_end import naming_sudden_ends, sudden_ends

    if not session.session_manager.is_persisted:  # the others keep their bills themselves
        from pi_core.conversation.bill import Bill, keep_bill

        keep_bill(session, Bill(session))
    if options.watch:
        session.watch_extensions()
    gc.freeze()
    gc.enable()
    code = 1
    for plugin, message in sudden_ends(session.host):
        session.host.report(plugin, "end", message)
    try:
        with naming_sudden_ends(session.host):
            code = await mode.run(session, options)
    finally:
        last_moment.begins(code)
    remember_calls(session.host, session.hooks.counters())
    remember(session.host, session.parts.activations.flags)
    return code


async def _choose_model(
    options: Options, models: ModelRegistry, session: SessionManager, *, required: bool, is_last: bool = False
) -> ModelChoice:
    """Select a model, including one of a provider that a plugin adds in ``activate``.

    If none is required and the options name none, the choice may be without one. Unless it is the last one, it is open
    if there is no such model and a plugin is a program that has not run yet: what it adds is not known.
    """
    from pi_cli.model_choice import choice_without_model, choose_model
    from pi_core.plugin_api.activation import register_providers

    try:
        try:
            return await choose_model(options, models, session)
        except UserError:
            if not register_providers(models.host, models):
                raise
            return await choose_model(options, models, session)
    except UserError as error:
        if not is_last and _has_unread_programs(models.host):
            return evolve(choice_without_model(options), is_open=True)
        if not isinstance(error, NoModel) or required or options.model is not None or options.provider is not None:
            raise
        return choice_without_model(options)


def _has_unread_programs(host: PluginHost) -> bool:
    return any(getattr(host.plugin_object(name), "is_known", True) is False for name in host.added())


def _trace(call: HookTrace) -> None:
    say(trace_line(call))


def _report_loop_error(host: PluginHost, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that no task awaits, in one line where asyncio would print a traceback."""
    error = context.get("exception")
    if error is None:
        warn(context["message"])
    elif not was_reported(error):  # of a task, which Python finds once more when it is collected
        _report_error(host, error, "a task or callback", context["message"])


def _report_error(host: PluginHost, error: BaseException, what: str, message: str) -> None:
    from pi_core.host.guarded import error_line

    plugin = _plugin_that_raised(host, error)
    warn(f"{message if plugin is None else f'Plugin {plugin!r} failed in {what}'}: {error_line(error)}")


def _report_thread_error(host: PluginHost, failed: threading.ExceptHookArgs) -> None:
    """Report an error that ended a thread, as ``_report_loop_error`` does."""
    name = failed.thread.name if failed.thread is not None else "unknown"
    if failed.exc_value is not None:
        _report_error(host, failed.exc_value, f"thread {name!r}", f"Thread {name!r} failed")
