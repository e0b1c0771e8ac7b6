"""The pytest plugin: the marker ``pi`` and the fixtures. Their dependencies are imported when they are used."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from pi_core import Agent, AgentSession, PluginHost, PluginManager
    from pi_hookspecs import ExtensionErrorEvent
    from pi_testing.cache_guard import CacheGuard
    from pi_testing.cassettes import Cassette
    from pi_testing.fake_ui import FakeUI
    from pi_testing.options import PiOptions
    from pi_testing.recorder import EventRecorder
    from pi_testing.scripted import ScriptedProvider
    from pi_testing.stand_ins import FakeTool

__all__ = [
    "cache_guard",
    "cassette",
    "fake_tools",
    "fake_ui",
    "pi_agent",
    "pi_agent_dir",
    "pi_extensions",
    "pi_host",
    "pi_options",
    "pi_plugin_index",
    "pi_plugins",
    "pi_session",
    "plugin_manager",
    "pytest_addoption",
    "pytest_configure",
    "recorder",
    "script",
]


_KEYS = pytest.StashKey[dict[str, str]]()
"""The environment with the keys for recording cassettes; it is hidden from the tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for recording cassettes."""
    parser.getgroup("pi").addoption(
        "--pi-record",
        choices=("none", "once", "all"),
        default="none",
        help="Traffic with model servers: none replays cassettes (default), once records those that are missing, all"
        " records every cassette anew. Recording needs a network and keys.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; save the keys if cassettes are to be recorded."""
    if config.getoption("--pi-record") != "none":
        config.stash[_KEYS] = dict(os.environ)
    config.addinivalue_line(
        "markers",
        "pi_cassette(ignore=()): what may differ from the recorded requests, as paths: 'body.metadata.user_id',"
        " 'body.messages[*].id'.",
    )
    config.addinivalue_line(
        "markers",
        "pi(plugins=None, extensions=(), entry_points=(), stored=False, settings={}, tools=None, session={},"
        " trusted=False, allow_problems=False, screen=False): what pi_host and pi_session are made of. plugins: plugin"
        " objects, as a list or by name; extensions: files and folders of local extensions, relative to the test's;"
        " entry_points: names of installed plugins; stored: whether the session is kept in a file; settings: as in"
        " settings.json; tools: names and Tool objects, exactly what the model is offered; session: further options of"
        " create_agent_session; trusted: whether the project is; allow_problems: a plugin may fail to load;"
        " screen: fake_ui is a FakeFullUI, which draws components.",
    )


@pytest.fixture
def script() -> Iterator[ScriptedProvider]:
    """A provider that answers with the scripted turns of this test: ``script.turn(text("Hello"))``."""
    from pi_testing.scripted import ScriptedProvider

    provider = ScriptedProvider()
    yield provider
    provider.check()


@pytest.fixture
def recorder() -> EventRecorder:
    """A listener that records events: ``pi_session.subscribe(recorder)``."""
    from pi_testing.recorder import EventRecorder

    return EventRecorder()


@pytest.fixture
def fake_ui(pi_options: PiOptions) -> Iterator[FakeUI]:
    """The user of ``pi_session``: ``fake_ui.answers(True)``. An unexpected dialog fails the test.

    With ``@pytest.mark.pi(screen=True)`` it is a ``FakeFullUI``, which displays components.
    """
    from pi_testing.fake_screen import FakeFullUI
    from pi_testing.fake_ui import FakeUI

    ui = FakeFullUI() if pi_options.screen else FakeUI()
    yield ui
    ui.check()


@pytest.fixture
def pi_agent_dir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty agent directory, the only one that this test can see.

    ``PI_CODING_AGENT_DIR`` is set to it, ``HOME`` is an empty directory, and all other ``PI_*`` variables and all keys
    (``*_API_KEY``) are unset, so that the developer's own pi configuration has no effect.
    """
    for name in list(os.environ):
        if name.startswith("PI_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    agent_dir = tmp_path_factory.mktemp("pi-agent")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent_dir))
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    return agent_dir


@pytest.fixture(scope="session")
def pi_plugin_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for the index of installed plugins, which the first ``pi`` process of the test run builds."""
    return tmp_path_factory.mktemp("pi-index")


@pytest.fixture
def pi_options(request: pytest.FixtureRequest) -> PiOptions:
    """The options of this test, given by ``@pytest.mark.pi(...)``."""
    from pi_testing.options import options_of

    try:
        return options_of(request.node)
    except TypeError as error:
        problem = str(error)
    pytest.fail(problem, pytrace=False)


@pytest.fixture
def pi_plugins(request: pytest.FixtureRequest, pi_options: PiOptions) -> dict[str, object]:
    """The plugins under test by name: the marker's plugins, else the plugins declared in the project's pyproject.toml.

    Override this fixture if each test needs a new plugin object.
    """
    from pi_hookspecs import UnknownName
    from pi_testing.under_test import plugins_for

    try:
        return plugins_for(pi_options, request.node.path)
    except UnknownName as error:
        problem = str(error)
    pytest.fail(problem, pytrace=False)


@pytest.fixture
def plugin_manager() -> PluginManager:
    """A plugin manager with pi's hooks and no plugins; it raises ``ValueError`` for a wrong signature."""
    from pi_core import PluginManager

    def refuse(hook: str, problem: str) -> None:
        message = f"{hook}: {problem}"
        raise ValueError(message)

    return PluginManager(refuse)


@pytest.fixture
def pi_extensions(request: pytest.FixtureRequest, pi_options: PiOptions) -> list[Path]:
    """The files and directories of the local extensions under test, given by the marker."""
    from pi_hookspecs import UserError
    from pi_testing.under_test import extensions_for

    try:
        return extensions_for(pi_options, request.node.path)
    except UserError as error:
        problem = str(error)
    pytest.fail(problem, pytrace=False)


@pytest.fixture
def pi_host(
    *,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    pi_agent_dir: Path,
    pi_options: PiOptions,
    pi_plugins: dict[str, object],
    pi_extensions: list[Path],
) -> PluginHost:
    """A plugin host with only the plugins under test; the test fails if one of them cannot be loaded cleanly."""
    from pi_core import PluginHost, ProjectTrust, Settings

    trust = ProjectTrust.given(tmp_path, is_trusted=pi_options.trusted, why="set by the test")
    settings = Settings.in_memory(pi_options.settings, agent_dir=pi_agent_dir, trust=trust)
    host = PluginHost(settings, installed=False)
    for name, plugin in pi_plugins.items():
        host.add(plugin, name)
    if "cache_guard" in request.fixturenames:
        _add_cache_lint(host, pi_plugins)
    if pi_extensions:
        from pi_core import LocalExtensions

        LocalExtensions(host, cwd=tmp_path, given=pi_extensions, discover=False).load()
    _check_problems(host, pi_options)
    return host


def _add_cache_lint(host: PluginHost, plugins: dict[str, object]) -> None:
    """Add the plugin that detects cache breaks, unless the test has added it already."""
    from pi_hookspecs import UnknownName
    from pi_testing.cache_guard import CACHE_LINT
    from pi_testing.under_test import installed_plugin

    if CACHE_LINT in plugins:
        return
    problem = ""
    try:
        host.add(installed_plugin(CACHE_LINT), CACHE_LINT)
    except UnknownName as error:
        problem = str(error)
    if problem:
        pytest.fail(problem, pytrace=False)


def _check_problems(host: PluginHost, options: PiOptions) -> None:
    if host.problems and not options.allow_problems:
        pytest.fail("\n".join(map(str, host.problems)), pytrace=False)


@pytest.fixture
def fake_tools(pi_options: PiOptions) -> dict[str, FakeTool]:
    """Fake versions of pi's own tools by name, for tools that no plugin of the test registers.

    They do nothing except record their calls: ``fake_tools["bash"].calls``.
    """
    from pi_testing.stand_ins import CODING_TOOLS, stand_in

    names = pi_options.tool_names
    return {name: stand_in(name) for name in (CODING_TOOLS if names is None else names)}


@pytest_asyncio.fixture
async def pi_session(
    *,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    pi_options: PiOptions,
    pi_host: PluginHost,
    fake_tools: dict[str, FakeTool],
) -> AsyncIterator[AgentSession]:
    """A started session in ``tmp_path``, with the scripted model, the plugins under test and the fake user.

    If the test fails, plugin failures are reported in a separate section.
    """
    from pi_core import create_agent_session
    from pi_testing.session import session_options

    def show(failure: ExtensionErrorEvent) -> None:
        request.node.add_report_section("call", "pi", f"{failure.error}\n{failure.stack or ''}")

    options = session_options(
        cwd=tmp_path, script=script, ui=fake_ui, options=pi_options, host=pi_host, fake_tools=fake_tools
    )
    session = create_agent_session(**options)
    _check_problems(pi_host, pi_options)  # errors of the extensions given in the session's options
    session.subscribe(show, "extension_error")
    await session.start()
    yield session
    await session.dispose()


@pytest.fixture
def cache_guard(pi_session: AgentSession) -> Iterator[CacheGuard]:
    """Fails the test if a plugin breaks the provider's prompt cache avoidably; ``cache_guard.breaks`` lists the breaks.

    A test that requests this fixture gets a ``pi_session`` with the plugin ``cache-lint``. A break can only be detected
    if there are at least two requests: send a second prompt, or make a tool call.
    """
    from pi_testing.cache_guard import CacheGuard

    guard = CacheGuard(pi_session)
    yield guard
    if guard.problem is not None:
        pytest.fail(guard.problem, pytrace=False)


@pytest.fixture
def pi_agent(script: ScriptedProvider, pi_options: PiOptions) -> Agent:
    """An agent with the scripted model, without a session or plugins."""
    from pi_core import Agent

    return Agent(stream=script.stream, model=script.model, tools=pi_options.custom_tools)


@pytest_asyncio.fixture
async def cassette(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Cassette]:
    """Traffic with a model server, recorded once (``--pi-record=once``) and replayed without a network.

    It is stored in ``cassettes/<module>/<test>.json`` next to the test. The test fails if its traffic differs.
    """
    from pi_hookspecs import UserError
    from pi_testing.cassettes import Cassette

    node, problem = request.node, ""
    marker = node.get_closest_marker("pi_cassette")
    name = re.sub(r"[^\w.=-]+", "-", node.name).strip("-")
    try:
        tape = Cassette(
            node.path.parent / "cassettes" / node.path.stem / f"{name}.json",
            request.config.getoption("--pi-record"),
            test=shlex.quote(node.nodeid),
            ignored=marker.kwargs.get("ignore", ()) if marker else (),
            replace={"{tmp_path}": str(tmp_path)},
            environ=request.config.stash.get(_KEYS, None),
        )
    except UserError as error:
        problem = str(error)
    if problem:
        pytest.fail(problem, pytrace=False)
    try:
        yield tape
    finally:
        await tape.close()
    try:
        tape.check()
    except AssertionError as error:
        problem = str(error)
    if problem:
        pytest.fail(problem, pytrace=False)
