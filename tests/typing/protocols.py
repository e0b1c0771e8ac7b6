"""The classes that the project ships do what the protocols of the contract say. Checked by mypy, never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_core import DefaultResourceLoader, FanOutUI
    from pi_core.conversation import AgentSession
    from pi_core.plugin_api.api import PluginAPI
    from pi_core.plugin_api.context import NoUserInterface, PluginContext, ToolCallContext
    from pi_core.plugin_api.event_bus import PluginEvents
    from pi_core.plugin_api.session_models import SessionModels
    from pi_core.session import ReadOnlySession
    from pi_core.session.memory import MemorySession, MemoryStore
    from pi_core.session.nodes import TreeNode
    from pi_hookspecs import (
        CommandOperations,
        EventBus,
        FileOperations,
        Launcher,
        ManagedProcess,
        ModelCatalog,
        PiAPI,
        PiContext,
        Processes,
        ProcessKeeper,
        Provider,
        ResourceLoader,
        SessionStore,
        SessionTreeNode,
        SessionView,
        StartContext,
        StoredSession,
        StreamFunction,
        Tool,
        ToolContext,
        ToolOperations,
        UserInterface,
    )
    from pi_testing import (
        EventRecorder,
        FakeLauncher,
        FakeProcess,
        FakeProcesses,
        FakeTool,
        FakeUI,
        FakeWorkspace,
        ScriptedProvider,
    )


def scripted_provider_is_a_provider(script: ScriptedProvider) -> tuple[Provider, StreamFunction]:
    return script, script.stream


def user_interfaces_are_complete(fake: FakeUI, nobody: NoUserInterface, several: FanOutUI) -> list[UserInterface]:
    return [fake, nobody, several]


def the_usual_resource_loader_is_one(loader: DefaultResourceLoader) -> ResourceLoader:
    return loader


def what_plugins_hold_is_complete(
    ctx: PluginContext, tool_ctx: ToolCallContext, pi: PluginAPI, view: ReadOnlySession
) -> tuple[PiContext, ToolContext, PiAPI, SessionView]:
    return ctx, tool_ctx, pi, view


def what_plugins_reach_through_them_is_complete(
    events: PluginEvents, models: SessionModels
) -> tuple[EventBus, ModelCatalog]:
    return events, models


def sessions_in_memory_are_stored_like_others(
    store: MemoryStore, session: MemorySession, node: TreeNode
) -> tuple[SessionStore, StoredSession, SessionTreeNode]:
    return store, session, node


def a_hook_gets_what_there_is_before_a_session(ctx: PiContext) -> StartContext:
    return ctx


def a_tool_gets_what_a_hook_gets(tool_ctx: ToolContext) -> PiContext:
    return tool_ctx


def a_fake_tool_is_a_tool(fake: FakeTool) -> Tool:
    return fake


def a_recorder_listens_to_sessions_and_agents(recorder: EventRecorder, session: AgentSession) -> None:
    session.subscribe(recorder)
    session.agent.subscribe(recorder)


def a_fake_workspace_redirects_all_tools(
    fake: FakeWorkspace,
) -> tuple[ToolOperations, FileOperations, CommandOperations]:
    return fake, fake, fake


def a_fake_launcher_is_one(fake: FakeLauncher) -> Launcher:
    return fake


def fake_processes_are_complete(
    fake: FakeProcesses, process: FakeProcess
) -> tuple[ProcessKeeper, Processes, ManagedProcess]:
    return fake, fake, process
