"""An extension's file becomes a plugin; errors are reported with file and line, and the rest works."""

from __future__ import annotations

import re
import signal
import sys
import threading

import pytest

from pi_testing import text


async def test_hooks_and_activate_of_a_file_both_work(folders, start, script):
    folders.write(
        "both.py",
        """
        from pi_hookspecs import Command, InputResult, hookimpl

        @hookimpl
        def register_commands():
            return [Command(name="hooked", handler=lambda args, ctx: None)]

        @hookimpl
        def input(event):
            return InputResult(text=event.text.upper())

        def activate(pi):
            pi.register_command("active", lambda args, ctx: None)
        """,
    )
    session = await start()
    script.turn(text("Hi"))
    await session.prompt("hello")

    assert {each.name for each in await session.get_commands()} == {"hooked", "active"}
    assert script.requests[0].messages[0].text == "HELLO"


async def test_a_package_imports_its_own_modules(folders, start, stored_data):
    folders.write("pack/_answer.py", "ANSWER = 'inside'\n")
    folders.write(
        "pack/__init__.py",
        """
        from ._answer import ANSWER

        def activate(pi):
            pi.register_command("go", lambda args, ctx: pi.append_entry("go", ANSWER) and None)
        """,
    )
    session = await start()
    await session.prompt("/go")

    assert stored_data(session) == ["inside"]
    assert not (folders.agent_dir / "extensions" / "pack" / "__pycache__").exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def activate(pi):\n    x = (\n", r"SyntaxError: '\(' was never closed \(in .*bad\.py, line 2\)"),
        ("import no_such_module_here\n", r"ModuleNotFoundError: .*no_such_module_here.* \(in .*bad\.py, line 1\)"),
        ("x = 1\n\nraise ValueError('broken')\n", r"ValueError: broken \(in .*bad\.py, line 3\)"),
        ("raise SystemExit(3)\n", r"SystemExit: 3"),
        ("x = 1\n", r"implements no hook"),
        ("class Odd(BaseException): pass\nraise Odd\n", r"Odd \(in .*bad\.py, line 2\)"),
    ],
    ids=["syntax", "missing", "raises", "exit", "nothing", "odd"],
)
def test_what_is_wrong_is_reported_with_its_location_and_the_rest_works(folders, command, code, message):
    folders.write("bad.py", code)
    folders.write("good.py", command("good"))
    host = folders.host()

    assert "good" in host.added()
    assert re.search(message, str(host.problems[0]))


def test_undecodable_source_is_reported(folders):
    folders.write("bad.py", "x = 1\n").write_bytes(b"x = '\xff'\n")

    assert "SyntaxError" in str(folders.host().problems[0])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer")
def test_one_that_hangs_is_broken_off(folders, command):
    folders.write("hangs.py", "while True: pass\n")
    folders.write("good.py", command("good"))
    host = folders.host(settings={"hooks": {"timeout": 1}})

    assert host.added() == ["good"]
    assert "took longer than 1 s" in str(host.problems[0])


async def test_what_it_prints_does_not_reach_stdout(folders, start, capsys):
    folders.write("loud.py", "print('at import')\ndef activate(pi):\n    print('in activate')\n")
    await start()
    printed = capsys.readouterr()

    assert printed.out == ""
    assert "at import" in printed.err
    assert "in activate" in printed.err


def test_one_that_starts_a_thread_is_loaded(folders):
    folders.write(
        "threads.py",
        """
        import threading
        started = threading.Event()
        threading.Thread(target=started.wait, daemon=True, name="of-an-extension").start()

        def activate(pi):
            pass
        """,
    )
    host = folders.host()
    names = [thread.name for thread in threading.enumerate()]
    ours = (module for name, module in sys.modules.items() if name.endswith("_threads"))
    next(module for module in ours if hasattr(module, "started")).started.set()

    assert host.problems == []
    assert "of-an-extension" in names


def test_nothing_of_one_that_failed_stays_imported(folders):
    folders.write("failing_one.py", "raise ValueError\n")
    folders.host()

    assert not [name for name in sys.modules if name.endswith("failing_one")]


def test_an_unreadable_file_is_reported(folders, command):
    folders.write("folder.py/inner.txt", "a folder that is called like a file")
    host = folders.host()

    assert host.added() == []


async def test_a_session_of_a_program_finds_them(folders, command, script, stored_data):
    from pi_core import PluginHost, Settings, create_agent_session

    folders.write("todo.py", command("todo"))
    other = folders.cwd / "more.py"
    other.write_text(command("more"))
    settings = Settings.in_memory({}, agent_dir=folders.agent_dir)
    host = PluginHost(settings, installed=False)
    session = create_agent_session(
        cwd=folders.cwd,
        settings=settings,
        host=host,
        plugins={"script": script},
        model=script.model,
        extensions=[other],
    )
    async with session:
        names = [each.name for each in await session.get_commands()]

    assert names == ["todo", "more"]


WAITS = 'pi_when = {"files": ["./acme.toml"]}\n'


@pytest.mark.parametrize("there", [True, False])
def test_an_extension_is_left_out_where_its_pi_when_is_not_met(folders, command, there):
    folders.write("acme.py", WAITS + command("acme"))
    if there:
        (folders.cwd / "acme.toml").touch()

    host = folders.host()

    assert host.has("acme") is there
    assert [source.name for source, _ in host.extensions.waiting] == ([] if there else ["acme"])
    assert host.problems == []


def test_an_extension_whose_pi_when_is_invalid_is_loaded_and_reported(folders, command):
    folders.write("acme.py", "pi_when = ['acme.toml']\n" + command("acme"))

    host = folders.host()

    (problem,) = host.problems
    assert host.has("acme")
    assert problem.message.startswith("pi_when must look like")
