"""A reload puts new versions in place, keeps the old ones where the new ones do not work, and ends what was held."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.host.extensions import LocalExtensions, watching
from pi_hookspecs import StaleObject, UserError
from pi_testing import stall, text, until


async def names(session):
    return [each.name for each in await session.get_commands()]


def registered(session):
    return session.runtime.registrations.find_all("register_commands")


def reported_errors(recorder):
    return [event.error for event in recorder.of("extension_error")]


async def test_a_changed_file_is_in_force(folders, command, start, stored_data):
    folders.write("todo.py", command("todo", "old"))
    session = await start()
    folders.write("todo.py", command("todo", "new"))
    await session.reload()
    await session.prompt("/todo")

    assert stored_data(session) == ["new"]


async def test_a_changed_module_of_a_package_is_in_force(folders, start, stored_data):
    folders.write(
        "pack/__init__.py",
        """
        from ._a import A

        def activate(pi):
            pi.on("session_start", lambda event: pi.append_entry("a", A) and None)
        """,
    )
    folders.write("pack/_a.py", "A = 'old'\n")
    session = await start()
    folders.write("pack/_a.py", "A = 'new'\n")
    await session.reload()

    assert stored_data(session) == ["old", "new"]


async def test_new_files_come_and_removed_ones_go(folders, command, start):
    old = folders.write("old.py", command("old"))
    session = await start()
    old.unlink()
    folders.write("new.py", command("new"))
    await session.reload()

    assert await names(session) == ["new"]
    assert session.host.added() == ["script", "new"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def activate(pi):\n    x = (\n", "todo.py, line 2"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("def activate(pi):\n    pi.register_command('half', print)\n    1 / 0\n", "division by zero"),
        (
            "from pi_hookspecs import hookimpl\n@hookimpl\ndef register_commands():\n    return [5]\n",
            "5 is not of type Command",
        ),
        ("x = 1\n", "implements no hook"),
    ],
    ids=["syntax", "import", "activate", "registers", "nothing"],
)
async def test_with_an_error_the_old_version_goes_on(folders, command, start, recorder, message, code):
    folders.write("todo.py", command("todo", "old"))
    session = await start()
    folders.write("todo.py", code)
    await session.reload()
    await session.prompt("/todo")

    assert await names(session) == ["todo"]
    assert [entry.data for entry in session.ctx.session.entries() if entry.type == "custom"] == ["old"]
    assert any(message in each for each in reported_errors(recorder))


async def test_after_an_error_a_repaired_version_comes(folders, command, start):
    folders.write("todo.py", command("todo"))
    session = await start()
    folders.write("todo.py", "def activate(pi:\n")
    await session.reload()
    folders.write("todo.py", command("done"))
    await session.reload()

    assert await names(session) == ["done"]


async def test_one_that_was_broken_from_the_start_comes_when_it_is_repaired(folders, command, start):
    folders.write("todo.py", "def activate(pi:\n")
    session = await start()
    folders.write("todo.py", command("todo"))
    await session.reload()

    assert await names(session) == ["todo"]


async def test_plugins_are_notified_in_order_and_their_old_handles_are_stale(folders, start):
    reported, held = [], []

    def activate(pi):
        held.append(pi)

        @pi.on("session_start")
        @pi.on("session_shutdown")
        def record(event, ctx):
            reported.append((event.type, event.reason))
            held.append(ctx)

    session = await start(extension_factories=[activate])
    await session.reload()

    assert reported == [("session_start", "startup"), ("session_shutdown", "reload"), ("session_start", "reload")]
    for use in (lambda: held[0].on("turn_end", print), lambda: held[0].append_entry("a"), lambda: held[1].cwd):
        with pytest.raises(StaleObject, match="before the plugins were reloaded"):
            use()
    assert held[-1].cwd == session.cwd


async def test_a_command_may_reload(folders, start):
    stale = []

    def activate(pi):
        @pi.register_command("again")
        async def again(args, ctx):
            await ctx.reload()
            try:
                ctx.is_idle()
            except StaleObject as error:
                stale.append(error)

    session = await start(extension_factories=[activate])
    await session.prompt("/again")

    assert len(stale) == 1
    assert await names(session) == ["again"]


async def test_handlers_do_not_pile_up(folders, start, script):
    called = []
    session = await start(extension_factories=[lambda pi: pi.on("turn_end", lambda event: called.append(1))])
    await session.reload()
    await session.reload()
    script.turn(text("Hi"))
    await session.prompt("hi")

    assert called == [1]


async def test_a_quarantined_extension_has_another_chance(folders, start, script):
    folders.write(
        "broken.py", "def activate(pi):\n    @pi.on('turn_start')\n    def fail(event):\n        raise ValueError\n"
    )
    session = await start()
    for _ in range(3):
        script.turn(text("Hi"))
        await session.prompt("hi")
    quarantined = session.hooks.implementations("turn_start")
    await session.reload()

    assert quarantined == ()
    assert len(session.hooks.implementations("turn_start")) == 1


async def test_not_while_an_answer_is_made(folders, start, script):
    session = await start()
    script.turn(stall())
    running = asyncio.create_task(session.prompt("hi"))
    await until(lambda: script.requests)
    with pytest.raises(UserError, match="Wait for the current response to finish before reloading"):
        await session.reload()
    await session.abort()
    await running


async def test_tools_of_the_old_version_are_gone(folders, start):
    folders.write(
        "tools.py",
        "def activate(pi):\n    @pi.register_tool\n    def old() -> str:\n        'Old.'\n        return ''\n",
    )
    session = await start()
    before = session.get_active_tools()
    folders.write(
        "tools.py",
        "def activate(pi):\n    @pi.register_tool\n    def new() -> str:\n        'New.'\n        return ''\n",
    )
    await session.reload()

    assert (before, session.get_active_tools()) == (["old"], ["new"])


async def test_settings_may_name_others_at_a_reload(folders, command, script, recorder):
    from pi_core import PluginHost, Settings, create_agent_session

    (folders.cwd / "more.py").write_text(command("more"))
    settings = Settings.load(folders.cwd, folders.agent_dir, trust=False)
    host = PluginHost(settings, installed=False)
    LocalExtensions(host, cwd=folders.cwd).load()
    session = create_agent_session(
        cwd=folders.cwd, settings=settings, host=host, plugins={"script": script}, model=script.model
    )
    async with session:
        (folders.agent_dir / "settings.json").write_text(f'{{"extensions": ["{folders.cwd}/more.py"]}}')
        await session.reload()

        assert await names(session) == ["more"]


async def watched(session, monkeypatch):
    """Watch the extensions, and wait until their files have been looked at once."""
    looks, marks = [], LocalExtensions.marks

    def looked(extensions):
        looks.append(marks(extensions))
        return looks[-1]

    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(LocalExtensions, "marks", looked)
    session.watch_extensions()
    await until(lambda: looks)


async def test_a_watched_file_reloads_when_it_changes(folders, command, start, monkeypatch):
    folders.write("todo.py", command("todo"))
    session = await start()
    await watched(session, monkeypatch)
    folders.write("todo.py", command("changed"))
    await until(lambda: "changed" in registered(session))

    assert await names(session) == ["changed"]


async def test_a_watched_error_is_reported_and_the_next_save_is_seen(folders, command, start, recorder, monkeypatch):
    folders.write("todo.py", command("todo"))
    session = await start()
    await watched(session, monkeypatch)
    folders.write("todo.py", "def activate(pi:\n")
    await until(lambda: reported_errors(recorder))
    folders.write("todo.py", command("repaired"))
    await until(lambda: "repaired" in registered(session))

    assert await names(session) == ["repaired"]


async def test_a_prompt_during_a_reload_waits_for_it(folders, start, script):
    order = []

    def activate(pi):
        @pi.on("session_start")
        async def slow(event):
            await asyncio.sleep(0.05)
            order.append(event.reason)

        pi.on("turn_start", lambda event: order.append("turn"))

    session = await start(extension_factories=[activate])
    script.turn(text("Hi"))
    reloading = asyncio.create_task(session.reload())
    await asyncio.sleep(0)
    await session.prompt("hi")
    await reloading

    assert order == ["startup", "reload", "turn"]


async def test_a_reload_looks_again_for_what_an_extension_waits_for(folders, command, start):
    folders.write("acme.py", 'pi_when = {"files": ["./acme.toml"]}\n' + command("acme"))
    session = await start()
    found = [await names(session)]
    for change in (folders.cwd / "acme.toml").touch, (folders.cwd / "acme.toml").unlink:
        change()

        await session.reload()

        found.append(await names(session))

    assert found == [[], ["acme"], []]
    assert [source.name for source, _ in session.runtime.host.extensions.waiting] == ["acme"]
