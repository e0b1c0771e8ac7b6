"""Lists the current MCP servers; an MCP client would connect to them here."""

from pi_hookspecs import hookimpl


@hookimpl
def mcp_servers_change(event, ctx):
    names = ", ".join(server.name for server in event.servers)
    ctx.ui.notify(f"MCP servers: {names or 'none'}")


@hookimpl
def activate(pi):
    @pi.register_command("docs", description="Add the documentation server")
    def docs(args, ctx):
        pi.register_mcp_server("docs", {"url": args})


# Test

import asyncio


async def test_example(pi_session, fake_ui):
    await pi_session.prompt("/docs https://docs.example/mcp")
    await asyncio.sleep(0)

    assert fake_ui.notices[-1].message == "MCP servers: docs"
    assert [server.config for server in pi_session.get_mcp_servers()] == [{"url": "https://docs.example/mcp"}]
