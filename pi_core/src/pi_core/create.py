"""``create_agent_session``: creates a session from its options."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pi_core.agent.subscribers import Subscribers
from pi_core.conversation import AgentSession
from pi_core.conversation.activations import SessionRegistrations
from pi_core.conversation.admission import Admission
from pi_core.conversation.build_agent import build_agent
from pi_core.conversation.hook_bridge import HookBridge
from pi_core.conversation.plugin_scope import PluginScope
from pi_core.conversation.prompt_gate import PromptGate
from pi_core.conversation.resources import report_problems
from pi_core.conversation.restore import (
    append_initial_settings,
    append_selection,
    restore_interrupted,
    restored_level,
    restored_model,
)
from pi_core.conversation.runtime import FrontEnd, Runtime, report_plugin_error
from pi_core.conversation.system_prompts import SystemPrompts
from pi_core.conversation.toolbox import READ_ONLY_TOOLS, Toolbox
from pi_core.conversation.transcript import Transcript
from pi_core.host import PluginHost
from pi_core.host.kinds import KINDS
from pi_core.models.registry import ModelRegistry
from pi_core.models.thinking import clamp_thinking_level
from pi_core.plugin_api.api import pi_of
from pi_core.plugin_api.context import NoUserInterface, contexts_of
from pi_core.resources import DefaultResourceLoader
from pi_core.session import SessionManager
from pi_core.settings import Settings
from pi_core.system_prompt import PromptInputs, SystemPromptBuilder
from pi_hookspecs import THINKING_LEVELS, NoModel, UserError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pi_core.conversation.debug_log import DebugLog
    from pi_core.conversation.model_selection import ScopedModel
    from pi_core.hooks.reports import HookFailure, HookTrace
    from pi_core.models.auth_storage import AuthStorage
    from pi_hookspecs import AgentMessage, Model, NewEntry, PiAPI, ResourceLoader, ThinkingLevel, Tool, UserInterface

__all__ = ["build_runtime", "create_agent_session", "prepare_host"]


def create_agent_session(
    *,
    cwd: str | Path | None = None,
    agent_dir: str | Path | None = None,
    model: Model | str | None = None,
    provider: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    model_required: bool = True,
    scoped_models: Iterable[ScopedModel] = (),
    tools: Sequence[str] | None = None,
    exclude_tools: Sequence[str] = (),
    read_only_tools: bool = False,
    custom_tools: Sequence[Tool] = (),
    system_prompt: str | None = None,
    append_system_prompt: Sequence[str] = (),
    resource_loader: ResourceLoader | None = None,
    session_manager: SessionManager | None = None,
    settings: Settings | None = None,
    auth_storage: AuthStorage | None = None,
    model_registry: ModelRegistry | None = None,
    host: PluginHost | None = None,
    plugins: Mapping[str, object] | None = None,
    extensions: Sequence[str | Path] = (),
    no_extensions: bool = False,
    packages: bool = False,
    extension_factories: Sequence[Callable[[PiAPI], None]] = (),
    disable: Sequence[str] = (),
    flags: Mapping[str, bool | str | None] | None = None,
    deps: Any = None,
    ui: UserInterface | None = None,
    mode: str = "print",
    environ: Mapping[str, str] | None = None,
    trace: Callable[[HookTrace], None] | None = None,
) -> AgentSession:
    """Return a session for use with ``async with``; call it inside a running event loop.

    Args:
        cwd: The working directory of the session's tools. None uses the current directory.
        agent_dir: The directory of settings and caches. None uses ``PI_CODING_AGENT_DIR``, or ``~/.pi/agent`` if the
            variable is not set.
        model: A model, or a model name in the syntax of ``--model``. A name is looked up without querying a server
            (``ModelRegistry.resolve`` queries servers). None selects the model of the stored conversation, else the
            setting ``defaultModel``, else the default model of the first provider that has a key.
        provider: Restricts the lookup of ``model`` to one provider. Without ``model``, selects the provider's default
            model.
        thinking_level: The reasoning effort. None selects the level of the stored conversation, else that of the model
            in the setting ``modelThinkingLevels``, else ``defaultThinkingLevel``, else ``medium``. A level that the
            model does not support is replaced by the nearest supported level.
        model_required: Whether to raise ``NoModel`` if no model can be selected. Otherwise the session has no model
            until ``set_model``, and ``prompt`` raises ``NoModel``.
        scoped_models: The models to cycle through, each with its thinking level. If empty, the user cycles through
            all usable models.
        tools: Names and patterns of the tools to offer; ``+name`` and ``-name`` modify the default selection. None
            offers the tools that are active by default.
        exclude_tools: Names and patterns of tools that are never active.
        read_only_tools: Offer only read, grep, find and ls.
        custom_tools: Additional tools that the calling program provides.
        system_prompt: Replaces the default system prompt: either the text, or the path of a file that contains it.
        append_system_prompt: Additional paragraphs of the system prompt, each a text or the path of a file.
        resource_loader: Finds skills, prompt templates, themes and context files. None uses a
            ``DefaultResourceLoader``. A ``DefaultResourceLoader`` may also supply the system prompt.
        session_manager: The conversation. None creates a new, stored conversation: ``SessionManager.create(cwd)``.
            ``SessionManager.in_memory()`` stores nothing; ``SessionManager.open(file)`` continues a stored one.
        settings: The settings. None reads them from the settings files.
        auth_storage: The stored keys. None uses auth.json in the agent directory. Ignored if ``model_registry`` is
            given.
        model_registry: Models and keys. None builds a registry from the host, the settings and models.json.
        host: The plugin host. None creates a host for this session with the installed plugins. Sessions that share a
            ``PluginHost`` load the plugins once.
        plugins: Additional plugin objects by name.
        extensions: Local extensions to load for this session: files, packages or requirements.
        no_extensions: Load no local extensions other than ``extensions``. This does not affect extensions that a
            given ``host`` has already loaded.
        packages: Make the plugins available that were installed with ``pi install``, for the user or for a trusted
            project, by appending their directories to this process's import path. Their skills, prompts and themes
            are available in any case.
        extension_factories: Functions that take ``pi``, like a plugin's ``activate``.
        disable: Names of plugins to disable in this session. If ``host`` is given, its other plugins are activated
            again on a separate host for this session.
        flags: Values of the options that plugins registered, as on the command line.
        deps: An object that tools and plugins read as ``ctx.deps``, such as a database, a client, or the user on whose
            behalf the session runs. It is never sent to the model or written to the session file.
        ui: The user interface that answers dialogs. None means that there is no user to ask.
        mode: The name of the front end.
        environ: The environment variables in which keys are looked up. None uses the environment of the process. If
            it contains ``PI_LOG``, the debug log is enabled.
        trace: A function that is called after every hook call.

    Raises:
        NoModel: No model is given and none can be selected, unless ``model_required`` is False.
        UnknownName: The model, the provider, the thinking level or a plugin in ``disable`` is unknown.
        UserError: ``cwd`` is not a directory.
        TypeError: An item of ``custom_tools`` is not a tool, or ``tools``, ``exclude_tools`` or ``disable`` is a
            single text instead of a list.
    """
    for name, names in (("tools", tools), ("exclude_tools", exclude_tools), ("disable", disable)):
        if isinstance(names, str):
            what = "names" if name == "disable" else "names and patterns"
            raise TypeError(f"{name} must be a list of {what}, not the string {names!r}")
    for each in custom_tools:
        problem = KINDS["register_tools"].problem(each)
        if problem is not None:
            raise TypeError(f"custom_tools: {problem}")
    here = Path(cwd or Path.cwd()).resolve()
    if not here.is_dir():
        raise UserError(
            f"The working directory {str(here)!r} does not exist. Create it, or pass cwd=... to work in another"
        )
    log = _debug_log(os.environ if environ is None else environ)
    settings = settings or Settings.load(here, agent_dir=Path(agent_dir) if agent_dir is not None else None)
    host = prepare_host(
        host or (model_registry.host if model_registry is not None else None),
        cwd=here,
        settings=settings,
        plugins=plugins or {},
        extensions=extensions,
        no_extensions=no_extensions,
        packages=packages,
        extension_factories=extension_factories,
        disable=disable,
        environ=environ,
        flags=flags,
        on_load=log.loading if log is not None else None,
    )
    models = model_registry or ModelRegistry(host, settings, environ, auth=auth_storage)
    session_manager = session_manager or SessionManager.create(here, host=host, environ=environ)
    restored = None
    if model is None:
        default = partial(_chosen_model, models, None, required=False)
        restored = restored_model(session_manager, models, default) if provider is None else None
        model = restored or _chosen_model(models, provider, required=model_required)
    elif isinstance(model, str):
        model, asked = models.match(model, provider)
        thinking_level = thinking_level or asked
    loader = resource_loader or DefaultResourceLoader(environ=environ)
    if isinstance(loader, DefaultResourceLoader):
        loader.use(cwd=here, settings=settings, host=host)
        system_prompt = loader.system_prompt if system_prompt is None else system_prompt
        append_system_prompt = append_system_prompt or loader.append_system_prompt
    level = thinking_level or restored_level(session_manager) or _default_level(settings, model)
    level = clamp_thinking_level(model, level) if model is not None else level
    append_initial_settings(session_manager, model, level)
    append_selection(session_manager, models, model if restored is None else None)
    restore_interrupted(session_manager)
    runtime = build_runtime(
        host=host,
        settings=settings,
        models=models,
        session_manager=session_manager,
        toolbox=Toolbox(
            host,
            READ_ONLY_TOOLS if read_only_tools else tools,
            custom_tools,
            [*exclude_tools, *(host.switched_off.tools if host.switched_off is not None else ())],
            default=settings.get_str_list("defaultTools") if settings.get("defaultTools") is not None else None,
        ),
        cwd=here,
        model=model,
        thinking_level=level,
        system_prompt=system_prompt,
        append_system_prompt=append_system_prompt,
        resources=loader,
        front_end=FrontEnd(
            ui=ui or NoUserInterface(), has_ui=ui is not None, mode=mode, flags=dict(flags or {}), deps=deps
        ),
        trace=log.traced(trace) if log is not None else trace,
    )
    session = AgentSession(runtime)
    _keep_bill(session)
    if scoped := tuple(scoped_models):  # avoid importing the part that cycles through models if it is not needed
        session.set_scoped_models(scoped)
    return session if log is None else log.observed(session)


def _chosen_model(models: ModelRegistry, provider: str | None, *, required: bool) -> Model | None:
    """Return the model to use if none is named; None if none can be used and none is required."""
    try:
        return models.choose(provider)
    except NoModel:
        if required:
            raise
        return None


def build_runtime(
    *,
    host: PluginHost,
    settings: Settings,
    models: ModelRegistry,
    session_manager: SessionManager,
    toolbox: Toolbox,
    cwd: Path,
    resources: ResourceLoader,
    model: Model | None = None,
    thinking_level: ThinkingLevel = "medium",
    system_prompt: str | None = None,
    append_system_prompt: Sequence[str] = (),
    front_end: FrontEnd | None = None,
    trace: Callable[[HookTrace], None] | None = None,
) -> Runtime:
    """Return a runtime built from these objects; call it inside a running event loop."""
    events = Subscribers()

    def report(plugin: str, step: str, message: str, stack: str | None = None) -> None:
        report_plugin_error(events, plugin, step, message, stack)

    def report_hook(failure: HookFailure) -> None:
        report(failure.plugin, failure.hook, str(failure), failure.stack)

    async def append_entries(entries: Iterable[NewEntry]) -> None:
        await transcript.append_entries(entries, agent.signal)

    def prompt_inputs() -> PromptInputs:
        date = bool(settings.get_bool("systemPrompt.date", default=False))
        return PromptInputs(cwd=cwd, tools=agent.state.tools, owner=toolbox.owner, date=date)

    hooks = host.dispatcher(report_hook, trace)
    hooks.tokens_of = _message_tokens
    plugins, gate = PluginScope(contexts_of, pi_of), PromptGate(hooks.abort)
    admission = Admission(settings, lambda: agent.state.model, lambda text: plugins.ctx.ui.notify(text, "warning"))
    bridge = HookBridge(hooks, plugins, append_entries, toolbox.info, admission, report=report)
    agent = build_agent(
        settings=settings,
        models=models,
        manager=session_manager,
        gate=gate,
        bridge=bridge,
        plugins=plugins,
        admission=admission,
        model=model,
        thinking_level=thinking_level,
    )
    transcript = Transcript(agent, session_manager, events, admission)
    session_manager.on_problem = lambda message: report("(session)", "store", message)
    session_manager.on_append = transcript.emit_entry
    session_manager.append_hook.connect(hooks, lambda: plugins.ctx)
    report_problems(resources, report)
    if host.watch is not None:
        host.watch.connect(report)
    builder = SystemPromptBuilder(system_prompt, append_system_prompt)
    return Runtime(
        host=host,
        settings=settings,
        models=models,
        resources=resources,
        cwd=cwd,
        manager=session_manager,
        registrations=SessionRegistrations(host),
        hooks=hooks,
        plugins=plugins,
        events=events,
        gate=gate,
        agent=agent,
        transcript=transcript,
        bridge=bridge,
        toolbox=toolbox,
        prompts=SystemPrompts(builder, prompt_inputs, hooks, lambda: plugins.ctx),
        front_end=front_end or FrontEnd(ui=NoUserInterface()),
        create_session=create_agent_session,
    )


def _message_tokens(message: AgentMessage) -> int:
    from pi_core.models.token_estimate import estimate_tokens

    return estimate_tokens(message)


def _keep_bill(session: AgentSession) -> None:
    """Record what the plugins of a stored session cost; nothing is recorded for a session in memory."""
    if session.session_manager.is_persisted:
        from pi_core.conversation.bill import Bill, keep_bill

        keep_bill(session, Bill(session))


def _debug_log(environ: Mapping[str, str]) -> DebugLog | None:
    """Return the debug log if ``PI_LOG`` is set, else None."""
    if not environ.get("PI_LOG"):
        return None
    from pi_core.conversation.debug_log import open_debug_log

    return open_debug_log(environ)


def prepare_host(
    given: PluginHost | None,
    *,
    cwd: Path,
    settings: Settings,
    plugins: Mapping[str, object],
    extensions: Sequence[str | Path],
    no_extensions: bool,
    extension_factories: Sequence[Callable[[PiAPI], None]],
    environ: Mapping[str, str] | None,
    disable: Sequence[str] = (),
    flags: Mapping[str, bool | str | None] | None = None,
    packages: bool = False,
    on_load: Callable[[str, float | None], None] | None = None,
) -> PluginHost:
    """Return the plugin host of a session with all listeners loaded; a new host loads local extensions, too."""
    if packages:
        from pi_core.host.overlay import join_packages

        join_packages(settings, cwd)
    named = [str(each) for each in extensions]
    host = given or PluginHost(settings, disabled=disable, on_load=on_load, builtins=named)
    if given is not None and disable:
        from pi_core.host.without import host_without

        host = host_without(given, disable, settings=settings, cwd=cwd, environ=environ)
    host.joins_packages = host.joins_packages or packages
    for name, plugin in plugins.items():
        host.add(plugin, name)
    if extensions or (given is None and not no_extensions):
        from pi_core.host.extensions import LocalExtensions

        LocalExtensions(host, cwd=cwd, given=extensions, discover=not no_extensions, environ=environ).load()
    if given is None and disable:
        from pi_core.host.without import require_plugins

        require_plugins(host, disable)
    for factory in extension_factories:
        host.add(_Factory(factory), f"inline-{len(host.added()) + 1}")
    host.declare_settings(settings)
    host.load_listeners(cwd, settings, flags)
    if settings.get("plugins.required") or host.absent_guards(host.records):
        from pi_core.host.presence import check_presence

        check_presence(host)
    if host.joins_packages and settings.get("packages"):
        from pi_core.host.presence import check_packages

        check_packages(host, cwd)
    return host


class _Factory:
    """A function as a plugin."""

    def __init__(self, factory: Callable[[PiAPI], None]) -> None:
        self._factory = factory

    @hookimpl
    def activate(self, pi: PiAPI) -> None:
        """Call the function with ``pi``."""
        self._factory(pi)


def _default_level(settings: Settings, model: Model | None) -> ThinkingLevel:
    """Return the reasoning effort of a new session with a model."""
    levels = settings.get("modelThinkingLevels")
    if model is not None and isinstance(levels, dict) and (level := levels.get(model.reference)) in THINKING_LEVELS:
        return cast("ThinkingLevel", level)
    return settings.get_choice("defaultThinkingLevel", THINKING_LEVELS, "medium")
