"""MCP servers that plugins register: what each name means, and who is called about a change."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from pi_hookspecs import McpServer, PluginError

DOCS = {"url": "https://docs.example/mcp"}
LOCAL = {"command": "docs-server", "args": ["--stdio"], "env": {"TOKEN": "s3cret"}}


@pytest.fixture
async def plugins(activated):
    """The ``pi`` of two plugins of a started session, and the names in each event so far."""

    found = SimpleNamespace(events=[])

    def listens(pi):
        found.one = pi

        @pi.on("mcp_servers_change")
        def changed(event):
            found.events.append([server.name for server in event.servers])

    found.session = await activated(listens, lambda pi: setattr(found, "two", pi))
    return found


async def settled():
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_registered_server_is_seen_by_all_plugins(plugins):
    plugins.one.register_mcp_server("docs", DOCS)

    (server,) = plugins.two.get_mcp_servers()
    assert (server.name, server.config, server.plugin) == ("docs", DOCS, "inline-2")
    assert plugins.session.get_mcp_servers() == (server,)


async def test_changes_made_together_are_one_event(plugins):
    plugins.one.register_mcp_server("docs", DOCS)
    plugins.two.register_mcp_server("local", LOCAL)
    plugins.one.unregister_mcp_server("docs")
    await settled()

    assert plugins.events == [["local"]]


async def test_what_changes_nothing_is_no_event(plugins):
    plugins.one.register_mcp_server("docs", DOCS)()
    plugins.one.unregister_mcp_server("docs")
    plugins.one.unregister_mcp_server("never")
    await settled()

    assert plugins.events == []


async def test_the_last_plugin_has_a_name_and_the_one_before_gets_it_back(plugins):
    plugins.one.register_mcp_server("docs", DOCS)
    remove = plugins.two.register_mcp_server("docs", LOCAL)
    during = plugins.one.get_mcp_servers()
    remove()

    assert [server.config for server in during] == [LOCAL]
    assert [server.config for server in plugins.one.get_mcp_servers()] == [DOCS]


async def test_a_plugin_removes_its_own_server_only(plugins):
    plugins.one.register_mcp_server("docs", DOCS)

    plugins.two.unregister_mcp_server("docs")

    assert [server.plugin for server in plugins.one.get_mcp_servers()] == ["inline-2"]


async def test_registering_again_replaces_the_configuration(plugins):
    plugins.one.register_mcp_server("docs", DOCS)
    await settled()
    plugins.one.register_mcp_server("docs", LOCAL)
    await settled()

    assert [server.config for server in plugins.one.get_mcp_servers()] == [LOCAL]
    assert plugins.events == [["docs"], ["docs"]]


async def test_a_server_of_activate_is_there_when_the_session_starts(activated):
    seen = []

    def activate(pi):
        pi.register_mcp_server("docs", DOCS)
        pi.on("session_start", lambda event: seen.extend(server.name for server in pi.get_mcp_servers()))

    await activated(activate)

    assert seen == ["docs"]


async def test_the_end_of_the_session_is_no_change(plugins):
    plugins.one.register_mcp_server("docs", DOCS)
    await settled()
    await plugins.session.dispose()
    await settled()

    assert plugins.events == [["docs"]]


async def test_a_changed_configuration_of_the_plugin_does_not_change_the_registered_one(plugins):
    config = {"env": {"A": "1"}}
    plugins.one.register_mcp_server("docs", config)
    config["env"]["A"] = "2"

    assert plugins.one.get_mcp_servers()[0].config == {"env": {"A": "1"}}


def test_a_server_does_not_show_its_secrets():
    assert "s3cret" not in repr(McpServer(name="local", config=LOCAL, plugin="acme"))


@pytest.mark.parametrize(
    ("name", "config", "problem"),
    [
        ("", DOCS, "MCP server '': a name is 1 to 128 letters"),
        ("two words", DOCS, "MCP server 'two words': a name is"),
        ("docs", "https://docs.example", "MCP server 'docs': its configuration is not a mapping"),
        ("docs", {"env": {"TOKEN": object()}}, "MCP server 'docs': its configuration cannot be written as JSON"),
    ],
    ids=range(4),
)
async def test_what_is_no_server_is_an_error_of_its_plugin(plugins, name, config, problem):
    with pytest.raises(PluginError) as caught:
        plugins.one.register_mcp_server(name, config)

    assert problem in str(caught.value)
    assert plugins.one.get_mcp_servers() == ()


@pytest.mark.parametrize("late", [False, True], ids=["while it is activated", "later"])
async def test_a_server_that_no_plugin_connects_to_is_reported_with_the_remedy(activated, recorder, late):
    found = []

    def registers(pi):
        found.append(pi)
        if not late:
            pi.register_mcp_server("docs", LOCAL)

    await activated(registers)
    if late:
        found[0].register_mcp_server("docs", LOCAL)
    for _ in range(5):
        await settled()

    (failure,) = recorder.of("extension_error")
    assert (failure.extension_path, failure.event) == ("inline-2", "register_mcp_server")
    assert failure.error.startswith("MCP server 'docs' is not used, because no plugin")
    assert "s3cret" not in failure.error


async def test_a_server_that_a_plugin_connects_to_is_not_reported(activated, problems):
    await activated(
        lambda pi: pi.register_mcp_server("docs", DOCS), lambda pi: pi.on("mcp_servers_change", lambda event: None)
    )
    for _ in range(5):
        await settled()

    assert problems() == []
