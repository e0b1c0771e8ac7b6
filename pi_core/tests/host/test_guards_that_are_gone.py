"""A plugin that decided about tool calls, and cannot be asked any more, does not open its gate by being absent."""

from __future__ import annotations

import os

import pytest

from pi_core import create_agent_session
from pi_core.hooks.dispatcher import HookRefused
from pi_hookspecs import PluginError, ToolCallEvent, UserBashEvent, UserError, hookimpl
from pi_hookspecs.specs import tools
from pi_testing import make_tool, text, tool_call

GUARD = """
@hookimpl
def tool_call(event): pass

@hookimpl
def user_bash(event): pass
"""

LISTENS = "@hookimpl\ndef turn_start(event): pass\n"

CALL = ToolCallEvent(tool_call_id="1", tool_name="bash", input={"command": "ls"})
COMMAND = UserBashEvent(command="ls", exclude_from_context=False, cwd="/")
REFUSES = "refuses, because the plugin cannot run. Fix it, or disable it with --disable guard"


@pytest.fixture
def guard(site):
    """The file of a guard that the index knows."""
    file = site.install("guard", GUARD)
    assert site.host().records["guard"].guards == ["tool_call", "user_bash"]
    return file


def fail(file):
    """Let a plugin fail from now on; its metadata, and so the index, stay as they are."""
    file.write_text("raise RuntimeError('gone bad')\n")


def index_anew(site):
    """Change something that is installed, so that the index is made again."""
    site.metadata("another", {})


async def refusal(host, spec=tools.tool_call, event=CALL):
    """Return why a hook refuses; None when it does not."""
    host.load_listeners()
    hooks = host.dispatcher(lambda failure: pytest.fail(str(failure)))
    try:
        await hooks.call(spec, event, None)
    except HookRefused as refused:
        return str(refused)
    finally:
        hooks.close()
    return None


@pytest.mark.parametrize("change", [lambda _site: None, index_anew], ids=["warm index", "new index"])
@pytest.mark.parametrize(("spec", "event"), [(tools.tool_call, CALL), (tools.user_bash, COMMAND)])
async def test_a_guard_that_cannot_be_imported_any_more_refuses(site, guard, change, spec, event):
    fail(guard)
    change(site)

    for _ in ("at once", "and at each start after it"):
        reason = await refusal(site.host(), spec, event)

        assert reason == (
            f"Extension failed, blocking execution: plugin 'guard' implements {spec.__name__} but cannot be called:"
            f" RuntimeError: gone bad (in {guard}, line 1). Disable it with --disable guard"
        )


@pytest.mark.parametrize("change", [lambda _site: None, index_anew], ids=["warm index", "new index"])
def test_the_user_reads_the_cause_and_which_gates_are_shut(site, guard, problems, change):
    fail(guard)
    change(site)
    host = site.host()
    host.load_listeners()

    assert problems(host) == [
        ("guard", "import", f"not loaded: RuntimeError: gone bad (in {guard}, line 1)"),
        ("guard", "tool_call", REFUSES),
        ("guard", "user_bash", REFUSES),
    ]


async def test_it_is_asked_again_when_it_can_be_imported_again(site, guard):
    well = guard.read_text()
    fail(guard)
    index_anew(site)
    assert await refusal(site.host()) is not None

    guard.write_text(well)
    os.utime(site.folder / "guard-1.0.dist-info", ns=(1, 1))

    assert await refusal(site.host()) is None


async def test_a_disabled_one_refuses_nothing_and_is_not_forgotten(site, guard):
    fail(guard)
    index_anew(site)

    assert await refusal(site.host("guard")) is None
    assert await refusal(site.host()) is not None


async def test_of_a_plugin_that_never_could_be_imported_nothing_is_known(site):
    fail(site.install("guard", GUARD))

    assert await refusal(site.host()) is None


async def test_a_new_version_that_guards_no_more_opens_the_gate(site, guard):
    guard.write_text(f"from pi_hookspecs import hookimpl\n{LISTENS}")
    index_anew(site)

    assert await refusal(site.host()) is None
    fail(guard)
    assert await refusal(site.host()) is None


async def test_one_that_is_uninstalled_leaves_no_gate_behind(site, guard):
    info = site.folder / "guard-1.0.dist-info"
    for each in (guard, *info.iterdir()):
        each.unlink()
    info.rmdir()

    assert await refusal(site.host()) is None


async def test_a_plugin_of_the_same_name_from_another_distribution_inherits_nothing(site, guard):
    fail(guard)
    info = site.folder / "guard-1.0.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
    os.utime(info, ns=(1, 1))

    assert await refusal(site.host()) is None


async def test_it_refuses_before_another_plugin_answers(site, guard):
    fail(guard)
    site.install("remote", "@hookimpl(tryfirst=True)\ndef user_bash(event):\n    return UserBashResult(operations=1)\n")

    assert await refusal(site.host(), tools.user_bash, COMMAND) is not None


async def test_a_guard_with_a_wrong_signature_refuses(site):
    site.install("guard", f"@hookimpl\ndef tool_call(evt): pass\n\n{LISTENS}")

    for _ in ("cold", "warm"):
        assert "cannot be called: tool_call takes evt, but the hook offers" in await refusal(site.host())


async def test_a_wrong_signature_elsewhere_refuses_nothing(site):
    site.install("listener", "@hookimpl\ndef turn_end(evt): pass\n")

    assert await refusal(site.host()) is None


async def test_a_version_that_can_be_asked_opens_the_gate_of_the_one_before(bare_host):
    class Wrong:
        @hookimpl
        def tool_call(self, evt): ...

    class Right:
        @hookimpl
        def tool_call(self, event): ...

    bare_host.add(Wrong(), "guard")
    assert await refusal(bare_host) is not None

    bare_host.replace("guard", Right())

    assert await refusal(bare_host) is None


def start(host, folder):
    """Make a session, as a program does."""
    return create_agent_session(cwd=folder, host=host, settings=host.settings, model="offline/rules")


async def test_no_session_starts_without_a_guard_unless_it_is_disabled_for_the_run(site, guard, tmp_path):
    fail(guard)

    with pytest.raises(UserError, match=r"'guard' decides about tool_call, user_bash.*gone bad.*--disable guard"):
        start(site.host(), tmp_path)

    with pytest.raises(UserError, match="offline"):  # it gets as far as that
        start(site.host("guard"), tmp_path)


async def test_the_model_reads_why_its_call_was_refused(site, script, tmp_path):
    site.install("guard", f"@hookimpl\ndef tool_call(evt): pass\n\n{LISTENS}")
    script.turn(tool_call("ls")).turn(text("too bad"))
    host = site.host()
    host.add(script, "script")
    options = {"settings": host.settings, "model": script.model, "custom_tools": [make_tool("ls")]}
    async with create_agent_session(cwd=tmp_path, host=host, **options) as session:
        await session.prompt("look")
        result = session.messages[-2]

    assert result.is_error
    assert "plugin 'guard' implements tool_call but cannot be called: tool_call takes evt" in result.text


# Services that refuse

LAUNCHER = """
class Sandbox:
    async def prepare(self, request, ctx):
        return request

@hookimpl
def register_services(): return [Sandbox()]
"""


@pytest.fixture
def launcher(site):
    """The file of a plugin with a ``Launcher`` that the index knows."""
    file = site.install("box", LAUNCHER)
    assert site.host().service_kinds >= {"Launcher"}
    return file


@pytest.mark.parametrize("anew", [False, True])
def test_a_launcher_that_cannot_be_loaded_any_more_refuses(site, launcher, anew):
    fail(launcher)
    if anew:
        index_anew(site)
    host = site.host()

    assert "Launcher" in host.service_kinds
    with pytest.raises(PluginError, match="Plugin 'box' provides Launcher but cannot be loaded"):
        host.services("Launcher")


def test_a_launcher_that_is_disabled_or_repaired_does_not_refuse(site, launcher):
    fail(launcher)

    assert site.host("box").services("Launcher") == []
    launcher.write_text("from pi_hookspecs import hookimpl\n" + LISTENS)
    index_anew(site)
    assert "Launcher" not in site.host().service_kinds
