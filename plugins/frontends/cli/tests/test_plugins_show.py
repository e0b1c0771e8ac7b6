"""``pi plugins show``: all that is known of one plugin."""

from __future__ import annotations

import json

import pytest

from pi_core import PluginHost, Settings
from pi_core.host.discovery import default_plugins

pytestmark = pytest.mark.slow  # each starts programs that take seconds

ADDING = """
from pi_hookspecs import Flag, ToolCallResult, hookimpl, tool

@tool
def ls(path: str) -> str:
    '''List a folder. In a way of its own.'''
    return path

@hookimpl
def register_tools():
    return [ls]

@hookimpl
def tool_call(event):
    return None

@hookimpl
def activate(pi):
    pass
"""

GUARD = """
from pi_hookspecs import hookimpl

@hookimpl
def tool_call(event):
    return None
"""

NOTES = """
from pi_hookspecs import hookimpl

@hookimpl
def activate(pi):
    pi.on("session_start", print)

    @pi.register_command("note")
    def note(args, ctx): ...

    pi.register_flag("--notes-file", type=str)
    pi.events.on("noted", print)
"""


def show_json(pi, name, *arguments, code=0):
    done = pi.run("plugins", "show", name, "--json", *arguments)

    assert (done.returncode, done.stderr) == (code, "")
    return json.loads(done.stdout)


def test_it_prints_a_plugins_origin_and_its_position(pi):
    pi.install("acme", ADDING)

    details = show_json(pi, "acme")

    assert (details["version"], details["distribution"], details["module"]) == ("0.1.0", "acme-acme", "acme")
    assert details["file"] == str(pi.site / "acme.py")
    assert len(default_plugins()) < details["place"] <= details["of"]
    assert details["loadMs"] >= 0
    assert (details["enabled"], details["loads"], details["problems"]) == (True, True, [])


def test_it_reports_the_order_in_which_plugins_are_asked(pi):
    pi.install("acme", ADDING)
    pi.install("guard", GUARD)

    hooks = {each["name"]: each for each in show_json(pi, "guard")["hooks"]}
    others = [each for each in hooks["tool_call"]["asked"] if each not in ("acme", "guard")]

    assert hooks["tool_call"] == {
        "name": "tool_call",
        "answers": "block: veto, input: pipe, result: first",
        "onFailure": "refuse",
        "deadlineSeconds": 30.0,
        "place": len(others) + 2,
        "asked": [*others, "acme", "guard"],
    }


def test_time_asks_each_event_hook_once(pi):
    pi.install("acme", ADDING)

    hooks = {each["name"]: each for each in show_json(pi, "acme", "--time")["hooks"]}

    assert hooks["tool_call"]["ms"] >= 0
    assert "ms" not in hooks["activate"]


def test_it_lists_what_activate_registers(pi):
    pi.install("notes", NOTES)

    details = show_json(pi, "notes")
    lines = pi.run("plugins", "show", "notes").stdout

    assert details["activates"] == [
        {"kind": "hook", "name": "session_start"},
        {"kind": "command", "name": "note"},
        {"kind": "flag", "name": "notes-file"},
        {"kind": "channel", "name": "noted"},
    ]
    assert "Registers in activate(pi)\n    hook     session_start\n    command  note\n" in lines


def test_an_activate_that_fails_is_a_problem(pi):
    pi.install("notes", NOTES.replace("@pi.register_command", "raise RuntimeError('no')\n    @pi.register_command"))

    details = show_json(pi, "notes", code=1)

    assert [each["name"] for each in details["activates"]] == ["session_start"]
    assert [each["step"] for each in details["problems"]] == ["activate"]


def test_it_names_the_winner_where_two_register_one_name(pi):
    pi.install("acme", ADDING)

    (wins,) = show_json(pi, "acme")["registers"]
    loses = next(each for each in show_json(pi, "tools")["registers"] if each["name"] == "ls")

    assert (wins["wins"], wins["alsoBy"], wins["because"]) == (True, ["tools"], "load order: the later one")
    assert (loses["wins"], loses["winner"]) == (False, "acme")


def test_a_preference_is_named_as_the_reason_and_among_the_settings(pi):
    pi.install("acme", ADDING)
    settings = {
        "plugins": {"prefer": {"tool:ls": "tools"}, "order": ["acme"]},
        "hooks": {
            "plugins": {"acme": {"timeout": 2}},
            "specs": {"tool_call": {"timeout": 9}, "turn_end": {"timeout": 9}},
        },
        "acme": {"color": "red"},
    }
    (pi.agent_dir / "settings.json").write_text(json.dumps(settings))

    details = show_json(pi, "acme")

    assert details["registers"][0]["because"] == "plugins.prefer"
    assert {each["name"]: each["value"] for each in details["settings"]} == {
        "plugins.order": ["acme"],
        "hooks.plugins.acme.timeout": 2,
        "hooks.specs.tool_call.timeout": 9,
        "acme.color": "red",
    }
    assert [each["deadlineSeconds"] for each in details["hooks"] if each["name"] == "tool_call"] == [2]


def test_lines_match_the_reference(pi):
    pi.install("acme", ADDING)
    pi.install("guard", GUARD)

    lines = [line.strip() for line in pi.run("plugins", "show", "acme").stdout.splitlines()]

    assert lines[0] == "acme 0.1.0"
    assert lines[1] == "from      acme-acme, acme"
    assert "tool  ls  List a folder. wins over tools (load order: the later one)" in lines
    assert any(line.startswith("tool_call") and line.endswith("1 of 2, before guard; 30 s at most") for line in lines)


def test_what_hides_a_registration_is_named_with_the_way_to_reach_it(pi):
    pi.install("acme", ADDING)

    assert (
        "hidden by acme (load order: the later one); reachable as tools:ls" in pi.run("plugins", "show", "tools").stdout
    )


def test_what_is_wrong_is_reported_and_is_the_exit_code(pi):
    pi.install("broken", "import missing_module")

    details = show_json(pi, "broken", code=1)

    assert details["loads"] is False
    assert "No module named 'missing_module'" in details["problems"][0]["message"]
    assert "! import: not loaded" in pi.run("plugins", "show", "broken").stdout


EXTENSION = """
def activate(pi):
    @pi.on("turn_end")
    def watch(event):
        pass

    @pi.on("tool_call")
    def guard(event):
        pass
"""


def test_an_extension_of_one_file_is_reported_like_a_plugin(pi):
    pi.install("guard", GUARD)
    (pi.cwd / "mine.py").write_text(EXTENSION)

    (pi.agent_dir / "settings.json").write_text('{"plugins": {"disabled": ["diagnostics"]}}')  # an extra, perhaps there

    details = show_json(pi, "mine", "-e", "mine.py", "--time")

    assert (details["distribution"], details["file"]) == ("a local extension", str(pi.cwd / "mine.py"))
    assert [each["name"] for each in details["hooks"]] == ["activate", "turn_end", "tool_call"]
    assert details["hooks"][2]["asked"] == ["guard", "mine"]
    assert details["hooks"][2]["ms"] >= 0


def test_an_extension_that_hides_a_plugins_tool_is_named(pi):
    pi.install("acme", ADDING)
    (pi.agent_dir / "extensions").mkdir()
    (pi.agent_dir / "extensions" / "mine.py").write_text(ADDING)

    assert show_json(pi, "acme")["registers"][0]["winner"] == "mine"
    assert show_json(pi, "mine")["registers"][0]["alsoBy"] == ["tools", "acme"]


def test_a_disabled_plugin_says_so(pi):
    pi.install("acme", ADDING)

    details = show_json(pi, "acme", "--disable", "acme")

    assert (details["enabled"], details["hooks"]) == (False, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show"], "pi plugins show takes the name of one plugin, not 0"),
        (["show", "acme", "tools"], "pi plugins show takes the name of one plugin, not 2"),
        (["show", "tool"], "Unknown plugin: tool. Did you mean tools"),
        (["--time"], "--time is an option of pi plugins show"),
    ],
    ids=["none", "two", "unknown", "time"],
)
def test_what_is_wrong_with_the_command_is_reported(pi, arguments, message):
    done = pi.run("plugins", *arguments)

    assert done.returncode == 1
    assert message in done.stderr


def test_an_extension_that_fails_to_load_is_reported_with_file_and_line(pi):
    file = pi.cwd / "typo.py"
    file.write_text("def f(:\n    pass\n")

    done = pi.run("plugins", "show", "typo", "-e", str(file))

    assert (done.returncode, done.stdout) == (1, "")
    assert f"Plugin 'typo' (import): not loaded: SyntaxError: invalid syntax (in {file}, line 1)" in done.stderr


def test_a_plugin_of_a_package_for_one_run_has_the_file_of_its_code(tmp_path):
    from types import ModuleType

    from pi_cli.extension_records import extension_record

    module = ModuleType("pi_tides")
    module.__file__ = str(tmp_path / "pi_tides.py")
    host = PluginHost(Settings.load(tmp_path, tmp_path), installed=False)
    host.add(module, "tides")

    assert extension_record("tides", host).value == module.__file__
