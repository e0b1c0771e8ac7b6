"""``pi plugins``: what is installed, what it adds, and what is wrong with it."""

from __future__ import annotations

import json

import pytest

from pi_core.host.discovery import default_plugins

pytestmark = pytest.mark.slow  # each starts programs that take seconds

ADDING = """
from pathlib import Path

from pi_hookspecs import Flag, Mode, Rule, Subcommand, ToolCallResult, hookimpl, tool

with (Path(__file__).parent / "imports").open("a") as file:
    file.write(__name__ + "\\n")

@tool
def ls(path: str) -> str:
    '''List a folder.'''
    return path

@hookimpl
def register_tools():
    return [ls]

@hookimpl
def register_flags():
    return [Flag(name="todo-file", type="string", default="TODO", description="Where to-dos are kept")]

@hookimpl
def tool_call(event):
    return None

@hookimpl
def turn_end(event):
    return None
"""


def listed(pi, *arguments, **env):
    done = pi.run("plugins", "--json", *arguments, **env)

    assert (done.returncode, done.stderr) == (0, "")
    return {row["name"]: row for row in json.loads(done.stdout)}


def test_json_has_every_plugin_in_load_order_with_the_same_keys(pi):
    pi.install("acme", ADDING)

    rows = listed(pi)

    order = [*rows]
    assert all(order.index("acme") > order.index(each) for each in default_plugins())
    assert {"cli", "provider-offline", "tools"} <= {*rows}
    assert {tuple(row) for row in rows.values()} == {
        (
            "name",
            "distribution",
            "version",
            "enabled",
            "loads",
            "waitsFor",
            "hooks",
            "registers",
            "hidden",
            "loadMs",
            "problems",
            "lastRun",
        )
    }


def test_json_lists_what_a_plugin_adds_and_hides(pi):
    pi.install("acme", ADDING)

    rows = listed(pi)

    acme = {name: value for name, value in rows["acme"].items() if name != "loadMs"}
    assert acme == {
        "name": "acme",
        "distribution": "acme-acme",
        "version": "0.1.0",
        "enabled": True,
        "loads": True,
        "waitsFor": None,
        "hooks": [
            {"name": "turn_end", "answers": "entries: collect, continue_: first"},
            {"name": "tool_call", "answers": "block: veto, input: pipe, result: first"},
        ],
        "registers": {"flags": ["todo-file"], "tools": ["ls"]},
        "hidden": [],
        "problems": [],
        "lastRun": None,
    }
    assert rows["acme"]["loadMs"] > 0
    assert rows["tools"]["hidden"] == [{"kind": "tools", "name": "ls", "by": "acme"}]


def test_settings_prefer_a_plugin(pi):
    pi.install("acme", ADDING)
    (pi.agent_dir / "settings.json").write_text(json.dumps({"plugins": {"prefer": {"tool:ls": "tools"}}}))

    rows = listed(pi)

    assert rows["acme"]["hidden"] == [{"kind": "tools", "name": "ls", "by": "tools"}]
    assert rows["tools"]["hidden"] == []


def test_disabled_plugin_is_listed_and_hides_nothing(pi):
    pi.install("acme", ADDING)

    for rows in (listed(pi, "--disable", "acme"), listed(pi, PI_DISABLE_PLUGINS=" acme ,")):
        assert rows["acme"]["enabled"] is False
        assert rows["tools"]["hidden"] == []
    assert not (pi.site / "imports").exists()


def test_problems_are_listed_with_their_plugin(pi):
    pi.install("broken", "import foo")
    pi.install("mistaken", "from pi_hookspecs import hookimpl\n@hookimpl\ndef tol_call(event): pass\n")

    for _ in ("cold", "warm"):
        rows = listed(pi)

        assert rows["broken"]["loads"] is False
        (problem,) = rows["broken"]["problems"]
        assert problem["message"] == "not loaded: ModuleNotFoundError: No module named 'foo' (in {}, line 1)".format(
            pi.site / "broken.py"
        )
        assert [each["step"] for each in rows["mistaken"]["problems"]] == ["tol_call"]


def test_table_has_a_line_for_each_plugin(pi):
    pi.install("acme", ADDING)
    pi.install("broken", "import foo")
    pi.install("idle", "")

    done = pi.run("plugins", "--disable", "idle")

    lines = {line[2:].split()[0]: line for line in done.stdout.splitlines()}
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "flag todo-file; tool ls; hooks turn_end (entries: collect, continue_: first), tool_call (block"
        in lines["acme"]
    )
    assert " ms  acme-acme  " in lines["acme"]
    assert "ls (hidden by acme)" in lines["tools"]
    assert lines["broken"].startswith("! broken 0.1.0 ")
    assert "not loaded: ModuleNotFoundError: No module named 'foo'" in lines["broken"]
    assert lines["idle"].startswith("- idle 0.1.0 ")
    assert lines["idle"].endswith("disabled")


def test_problem_of_the_settings_is_a_warning(pi):
    (pi.agent_dir / "settings.json").write_text(json.dumps({"plugins": {"disabled": ["toolz"]}}))

    done = pi.run("plugins")

    assert done.stderr == "Warning: plugins.disabled: Unknown plugin: toolz. Did you mean tools?\n"


def test_warm_index_answers_without_importing(pi):
    pi.install("acme", ADDING)

    for _ in range(3):
        pi.run("plugins")
        pi.run("plugins", "--json")
        pi.run("hooks")
        pi.run("--help")

    assert (pi.site / "imports").read_text() == "acme\n"


def test_plugins_needs_neither_loop_nor_session(pi):
    script = (
        "import os, sys; from pi_cli.command_line import run; run(['plugins'], os.environ);"
        "engine = {'pi_core.conversation', 'pi_core.agent.loop', 'pi_core.agent.agent'};"
        "print(sorted(engine & set(sys.modules)), file=sys.stderr)"
    )
    pi.command = [pi.command[0], "-c", script]

    assert pi.run().stderr == "[]\n"


def test_its_help_is_its_own(pi):
    pi.install("acme", ADDING)

    done = pi.run("plugins", "--help")

    assert done.stdout.startswith("Usage: pi plugins")
    assert not (pi.site / "imports").exists()


def test_retry_loads_a_plugin_that_could_not_be_loaded(pi):
    pi.install("missing", "import os\nassert 'READY' in os.environ")

    before, failed = listed(pi), pi.run("plugins", "retry", "missing")
    loaded = pi.run("plugins", "retry", "missing", READY="1")

    assert before["missing"]["loads"] is False
    assert (failed.returncode, "not loaded: AssertionError" in failed.stderr) == (1, True)
    assert (loaded.returncode, "Plugin 'missing' was loaded" in loaded.stderr) == (0, True)
    assert listed(pi)["missing"]["loads"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["retry"], "takes the name of one plugin, not 0"),
        (["retry", "no-such"], "Unknown plugin: no-such. pi plugins lists them"),
        (["retry", "tools", "--disable", "tools"], "Plugin 'tools' is disabled"),
    ],
)
def test_retry_says_what_it_cannot_do(pi, arguments, message):
    done = pi.run("plugins", *arguments)

    assert (done.returncode != 0, message in done.stderr) == (True, True)


def test_the_list_names_what_a_plugin_waits_for(pi):
    pi.install("acme", ADDING + "\npi_when = {'files': ['acme.json'], 'env': ['ACME_*'], 'settings': ['acme.on']}\n")

    waits_for = "acme.json or $ACME_* or setting acme.on"
    assert f"there is no {waits_for}" in " ".join(pi.run("plugins").stdout.split())
    assert f"there is no {waits_for}" in " ".join(pi.run("plugins", "show", "acme").stdout.split())
    assert listed(pi)["acme"]["waitsFor"] == waits_for
    assert listed(pi, ACME_KEY="1")["acme"]["waitsFor"] is None


CALLED = """
from pi_hookspecs import hookimpl

@hookimpl
def turn_start(event):
    return None

@hookimpl
def turn_end(event):
    raise ValueError("the sea is rough")
"""


def test_the_list_says_what_the_hooks_of_the_last_run_cost(pi):
    pi.install("acme", CALLED)
    pi.run("--model", "offline/rules", "-p", "hello")

    last = listed(pi)["acme"]["lastRun"]

    assert {key: last[key] for key in ("calls", "failures", "timeouts")} == {"calls": 2, "failures": 1, "timeouts": 0}
    assert {hook: each["calls"] for hook, each in last["hooks"].items()} == {"turn_start": 1, "turn_end": 1}
    assert "last run: 2 calls of its hooks" in pi.run("plugins").stdout


@pytest.mark.parametrize("content", ["", "[]", '{"acme": {"turn_end": 3}}', '{"acme": {"turn_end": {}}}'])
def test_a_file_of_calls_that_cannot_be_used_counts_as_none(pi, content):
    file = pi.agent_dir / "cache" / "hook-calls.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)

    assert {row["lastRun"] for row in listed(pi).values()} == {None}


def test_many_settings_of_a_plugin_are_listed_by_the_first_part_of_their_names(pi):
    declared = ", ".join(f"PluginSetting('acme.of{number}')" for number in range(9))
    pi.install(
        "acme",
        "from pi_hookspecs import PluginSetting, hookimpl\n\n"
        f"@hookimpl\ndef register_settings():\n    return [PluginSetting('tides'), {declared}]\n",
    )

    assert "settings tides acme.* (9)" in pi.run("plugins").stdout
