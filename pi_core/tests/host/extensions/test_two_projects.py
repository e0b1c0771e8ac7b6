"""Sessions of one process that work in two projects do not see each other's extensions."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import SessionManager, Settings, create_agent_session
from pi_core.host.extensions import LocalExtensions
from pi_core.host.plugin_host import PluginHost


@pytest.fixture
async def session_in(tmp_path, pi_agent_dir, script):
    """Start a session in a project with an extension ``todo``, whose command answers with the project's name."""
    made = []

    async def start(name, own):
        cwd = tmp_path / name
        write(cwd, name, own)
        settings = Settings.in_memory({}, agent_dir=pi_agent_dir, trust=True)
        host = PluginHost(settings, installed=False)
        LocalExtensions(host, cwd=cwd).load()
        session = create_agent_session(
            cwd=cwd,
            settings=settings,
            host=host,
            plugins={"script": script},
            model=script.model,
            session_manager=SessionManager.in_memory(cwd),
        )
        made.append(session)
        await session.start()
        return session

    yield start
    for session in made:
        await session.dispose()


def write(cwd, answer, own):
    """Write the extension: the command ``/todo``, one that only this project has, and a module with the answer."""
    folder = cwd / ".pi" / "extensions" / "todo"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "names.py").write_text(f"NAME = {answer!r}\n")
    (folder / "__init__.py").write_text(
        "from .names import NAME\n"
        "def activate(pi):\n"
        f"    pi.register_command({own!r}, lambda args, ctx: None)\n"
        "    @pi.register_command('todo')\n"
        "    async def run(args, ctx):\n"
        "        pi.append_entry('said', NAME)\n"
    )


async def commands(session):
    return sorted(each.name for each in await session.get_commands())


async def test_each_has_its_own_extension_of_one_name(session_in, stored_data):
    one, two = await session_in("one", "left"), await session_in("two", "right")
    await asyncio.gather(one.prompt("/todo"), two.prompt("/todo"))

    assert (stored_data(one), stored_data(two)) == (["one"], ["two"])
    assert (await commands(one), await commands(two)) == (["left", "todo"], ["right", "todo"])


async def test_a_reload_of_one_leaves_the_other_alone(session_in, stored_data):
    one, two = await session_in("one", "left"), await session_in("two", "right")
    write(one.cwd, "changed", "left")
    await one.reload()
    await one.prompt("/todo")
    await two.prompt("/todo")

    assert (stored_data(one), stored_data(two)) == (["changed"], ["two"])


async def test_the_end_of_one_leaves_the_other_alone(session_in, stored_data):
    one, two = await session_in("one", "left"), await session_in("two", "right")
    await one.dispose()
    await two.prompt("/todo")

    assert stored_data(two) == ["two"]
