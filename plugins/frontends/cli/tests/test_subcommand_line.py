"""A subcommand is found after pi's own options, sees the local extensions, and is never sent to a model."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import requires

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_cli.arguments import first_word, parse
from pi_cli.option_table import own_options
from pi_cli.subcommands import _MEANT, EXTRAS, is_subcommand, refuse_near_miss
from pi_core import PluginHost, Settings
from pi_core.host.discovery import find_plugins
from pi_hookspecs import UserError

pytestmark = pytest.mark.slow  # each starts programs that take seconds

ACME = """
import os

from pi_hookspecs import (
    Model, PromptSection, ProviderInfo, Subcommand, SystemPromptResult, hookimpl, tool
)

print("printed at import")
os.write(1, b"written at import\\n")


@tool
async def read(path: str) -> str:
    "Read it differently."
    return path


@hookimpl
def register_tools():
    return [read]


@hookimpl
def register_models():
    model = Model(id="m1", name="m1", api="fake", provider="acme")
    return [ProviderInfo(id="acme", name="Acme", api="fake", models=(model,), key_variables=("ACME_KEY",))]


@hookimpl
def system_prompt(event):
    print("printed in a hook")
    return SystemPromptResult(sections=[PromptSection(name="weather", text="Sunny")])


def run(arguments, host):
    os.write(1, f"acme {arguments}\\n".encode())
    return 3


@hookimpl
def register_subcommands():
    return [Subcommand("acme", run=run, description="Say what was given")]
"""

PLAN = """
from pi_hookspecs import Flag, hookimpl

@hookimpl
def register_flags():
    return [Flag(name="plan")]
"""

TODO = """
from pi_hookspecs import Subcommand, hookimpl

@hookimpl
def register_subcommands():
    return [Subcommand("todo", run=lambda arguments, host: print("todo", arguments) or 3, description="Show to-dos")]
"""

CLICK = """
import os, signal
import click
from pi_hookspecs import Subcommand, hookimpl

def run(arguments, host):
    params = [click.Option(["--signal"], default="SIGINT"), click.Option(["--asks"], is_flag=True)]
    tide = click.Command("tide", callback=stopped, params=params)
    return tide.main(arguments, prog_name="pi tide", standalone_mode=False)

def stopped(signal, asks):
    if asks:
        click.termui.visible_prompt_func = lambda _: stopped(signal, asks=False)
        click.confirm("Sure?")
    os.kill(os.getpid(), getattr(globals()["signal"], signal))

@hookimpl
def register_subcommands():
    return [Subcommand("tide", run=run)]
"""


@pytest.fixture
def acme(fake):
    (fake.cwd / "acme.py").write_text(ACME)
    return fake


# Where the name may stand


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("-e acme.py plugins", "a local extension"),
        ("plugins -e acme.py", "a local extension"),
        ("--approve prompt show --tokens", "preamble"),
        ("-na --verbose prompt show --tokens", "preamble"),
        ("--disable memory plugins --json", '"name": "cli"'),
        ("--disable=memory --offline sessions list", "No sessions"),
        ("--help auth", "Usage: pi auth"),
        ("-e acme.py auth --help", "Usage: pi auth"),
        ("--verbose --help sessions", "Usage: pi sessions"),
    ],
)
def test_a_subcommand_runs_after_the_options_that_all_take(acme, line, printed):
    done = acme.run(*line.split())

    assert done.returncode == 0
    assert printed in done.stdout


@pytest.mark.parametrize(
    "line",
    ["--model fake/echo plugins", "-c auth login acme", "--model=fake/echo --no-session plugins -a", "-nope plugins"],
)
def test_after_options_of_a_prompt_it_is_neither_run_nor_sent(fake, line):
    done = fake.run(*line.split())

    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be given before the subcommand" in done.stderr
    assert "To send " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("line", ["-e plugins", "-e plugins hello", "-e sessions list", "-e acme.py -e plugins auth"])
def test_a_subcommand_in_place_of_a_file_is_not_installed(acme, line):
    done = acme.run(*line.split())

    assert (done.returncode, done.stdout) == (1, "")
    assert "after -e is a subcommand, and -e takes a file, a folder or a requirement" in done.stderr
    assert "Installing" not in done.stderr


def test_a_folder_named_like_a_subcommand_is_an_extension(acme):
    (acme.cwd / "plugins").mkdir()
    (acme.cwd / "acme.py").rename(acme.cwd / "plugins" / "__init__.py")

    assert acme.run("-e", "plugins", "acme").returncode == 3


def test_after_an_option_of_a_plugin_it_is_neither_run_nor_sent(fake):
    fake.install("acme", PLAN)

    done = fake.run("--plan", "plugins")

    assert (done.returncode, done.stdout) == (1, "")
    assert "--plan cannot be given before the subcommand 'plugins'" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        ["-p", "plugins"],
        ["plugins", "-p"],
        ["--mode", "text", "plugins"],
        ["--", "plugins"],
        ["plugins are great"],
        [" plugins"],
    ],
    ids=" ".join,
)
def test_what_is_marked_as_a_prompt_stays_one(fake, line):
    done = fake.run("--model", "fake/echo", *line)

    assert (done.returncode, done.stdout.strip()) == (0, line[-1].strip() if line[-1] != "-p" else "plugins")


def test_after_a_plugins_subcommand_options_are_the_plugins(fake):
    fake.install("todo", TODO)

    done = fake.run("--approve", "todo", "-e", "nowhere.py", "-na", "--mode", "json", "--", "-x")

    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == "todo ['-e', 'nowhere.py', '-na', '--mode', 'json', '--', '-x']\n"


def test_a_subcommand_of_a_disabled_plugin_is_not_sent_either(fake):
    done = fake.run("--disable", "session-jsonl", "sessions", "list")

    assert (done.returncode, done.stdout) == (1, "")
    assert "'sessions' is a subcommand of plugin 'session-jsonl', which is disabled" in done.stderr


WORDS = st.sampled_from(["plugins", "auth", "x.py", "@f", "-a", "-e", "-ne", "-n", "-p", "-h", "--disable", "--"])


@given(st.lists(WORDS, max_size=6))
def test_the_first_word_is_the_first_message_of_what_is_parsed(line):
    word = first_word(line)
    if word is None:
        return
    before = line[: len(line) - len(word.after) - 1]

    assert line[len(before)] == word.text
    assert parse([*before, word.text]).messages == (word.text,)


# What it sees


def test_local_extensions_are_listed_with_what_they_hide(acme):
    (acme.cwd / "acme.py").rename(acme.agent_dir / "acme.py")
    (acme.agent_dir / "extensions").mkdir()
    (acme.agent_dir / "acme.py").rename(acme.agent_dir / "extensions" / "acme.py")

    done = acme.run("plugins", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)}

    assert rows["acme"]["distribution"] == "a local extension"
    assert rows["acme"]["registers"]["models"] == ["acme"]
    assert rows["acme"]["hooks"] == [{"name": "system_prompt", "answers": "sections: collect, base: first"}]
    assert {"kind": "tools", "name": "read", "by": "acme"} in rows["tools"]["hidden"]
    assert "- acme" in acme.run("plugins", "--disable", "acme").stdout


@pytest.mark.parametrize("options", [["--disable", "acme"], []])
def test_an_extension_that_is_left_out_is_listed_and_can_be_shown(acme, options):
    file = acme.cwd / "acme.py"
    file.write_text(f"pi_when = {{'files': ['./acme.toml']}}\n{file.read_text()}")

    listed = acme.run("-e", "acme.py", "plugins", "--json", *options)
    shown = acme.run("-e", "acme.py", "plugins", "show", "acme", "--json", *options)

    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    for described in rows["acme"], json.loads(shown.stdout):
        assert described["enabled"] is not bool(options)
        assert described["waitsFor"] == (None if options else "./acme.toml")
        assert described["hooks"] == []


def test_an_extension_that_cannot_be_loaded_is_a_warning_of_the_list(fake):
    (fake.cwd / "bad.py").write_text("x = (\n")

    done = fake.run("-e", "bad.py", "plugins")

    assert done.returncode == 0
    assert "Warning: Plugin 'bad' (import): not loaded: SyntaxError" in done.stderr


@pytest.mark.parametrize(
    "order", [["-e", "acme.py", "auth", "login", "acme"], ["auth", "login", "acme", "-e", "acme.py"]]
)
def test_the_provider_of_a_local_extension_can_be_signed_in_to(acme, order):
    done = acme.run(*order, stdin="a-key\n")

    assert done.returncode == 0
    assert "The key for acme is stored." in done.stderr
    assert acme.run("-e", "acme.py", "auth", "check", "acme").stdout == "acme: ready (API key in auth.json)\n"


ACTIVATED = """
def activate(pi):
    models = [{"id": "echo"}]
    pi.register_provider("club", {"baseUrl": "u", "api": "fake", "apiKey": "$CLUB_KEY", "models": models})
"""


def test_a_provider_that_is_added_by_activate_can_be_listed_signed_in_to_and_used(fake):
    (fake.cwd / "club.py").write_text(ACTIVATED)

    before = fake.run("-e", "club.py", "-p", "--model", "club/echo", "hi")
    signed_in = fake.run("-e", "club.py", "auth", "login", "club", stdin="a-key\n")
    listed = fake.run("-e", "club.py", "--list-models", "club/")
    after = fake.run("-e", "club.py", "-p", "--model", "club/echo", "hi")

    assert (before.returncode, "No API key found for club" in before.stderr) == (1, True)
    assert (signed_in.returncode, "The key for club is stored." in signed_in.stderr) == (0, True)
    assert listed.stdout.splitlines()[1].split()[:2] == ["club", "echo"]
    assert (after.returncode, after.stdout, after.stderr) == (0, "hi\n", "")


def test_what_a_local_extension_adds_to_the_prompt_is_shown_and_nothing_that_it_prints(acme):
    parts = json.loads(acme.run("-e", "acme.py", "prompt", "show", "--json").stdout)

    assert {"weather": "acme"}.items() <= {part["section"]: part["plugin"] for part in parts}.items()


def test_hooks_count_local_extensions(acme):
    assert "acme: read" in acme.run("-e", "acme.py", "hooks", "register_tools").stdout


def test_hooks_fire_asks_local_extensions(acme):
    fired = acme.run("-e", "acme.py", "hooks", "fire", "system_prompt", "--plugin", "acme")

    assert (fired.returncode, "Sunny" in fired.stdout) == (0, True)


SHELF = """
from datetime import UTC, datetime

from pi_core.session.memory import MemoryStore
from pi_hookspecs import ResourcesDiscoverResult, SessionInfo, hookimpl


class Shelf(MemoryStore):
    name = "shelf"

    def list(self, cwd=None, progress=None):
        day = datetime(2026, 1, 2, tzinfo=UTC)
        return [SessionInfo(path="s1", id="s1", cwd=cwd or "/", created=day, modified=day, first_message="Tides")]


@hookimpl
def register_session_stores():
    return [Shelf]


@hookimpl
def resources_discover(event):
    return ResourcesDiscoverResult(prompt_paths=["templates"])
"""


def test_sessions_are_those_of_a_local_extensions_store(fake):
    (fake.cwd / "shelf.py").write_text(SHELF)
    (fake.agent_dir / "settings.json").write_text('{"sessionStore": "shelf"}')

    listed = fake.run("-e", "shelf.py", "sessions", "list")
    path = fake.run("-e", "shelf.py", "sessions", "path", "s1")
    without = fake.run("sessions", "list")

    assert (listed.returncode, listed.stdout.endswith("  Tides\n")) == (0, True)
    assert (path.returncode, path.stdout) == (0, "s1\n")
    assert (without.returncode, "No plugin provides the session store 'shelf'" in without.stderr) == (1, True)


def test_resources_are_those_that_a_local_extension_discovers_too(fake):
    (fake.cwd / "shelf.py").write_text(SHELF)
    (fake.cwd / "templates").mkdir()
    (fake.cwd / "templates" / "greet.md").write_text("Say hello")

    assert "greet  user, plugin shelf" in fake.run("-e", "shelf.py", "resources").stdout


def test_a_projects_extension_counts_for_subcommands_once_it_is_trusted(acme):
    (acme.cwd / ".pi" / "extensions").mkdir(parents=True)
    (acme.cwd / "acme.py").rename(acme.cwd / ".pi" / "extensions" / "acme.py")

    assert "a local extension" not in acme.run("plugins").stdout
    assert "a local extension" in acme.run("--approve", "plugins").stdout
    assert acme.run("plugins", "show", "acme", "--approve").returncode == 0


def test_a_subcommand_of_a_local_extension_has_stdout_and_its_options_for_itself(acme):
    done = acme.run("-e", "acme.py", "acme", "--open", "-x")

    assert (done.returncode, done.stdout) == (3, "acme ['--open', '-x']\n")
    assert "written at import" in done.stderr


@pytest.mark.parametrize("line", ["config list", "trust --list", "completion bash"])
def test_a_subcommand_that_needs_no_extension_runs_the_code_of_none(acme, line):
    assert "at import" not in acme.run("-e", "acme.py", *line.split()).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--hight"], 2, "Usage: pi tide [OPTIONS]\nTry 'pi tide --help'"),
        (["--help"], 0, ""),
        ([], 130, ""),
        (["--signal", "SIGTERM"], 143, ""),
        (["--signal", "SIGTERM", "--asks"], 143, ""),
    ],
)
def test_a_command_of_click_needs_no_error_handling_of_its_own(fake, arguments, code, said):
    fake.install("tide", CLICK)

    done = fake.run("tide", *arguments)

    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["instal", "foo"], "There is no subcommand 'instal'. Did you mean 'install'? {} pi -- instal foo"),
        (["-a", "plugns"], "There is no subcommand 'plugns'. Did you mean 'plugins'? {} pi -- plugns"),
        (["lsit"], "There is no subcommand 'lsit'. Did you mean 'list'? {} pi -- lsit"),
        (["wbe", "x"], "There is no subcommand 'wbe'. Did you mean 'web'? {} pi -- wbe x"),
        (["modls", "it's"], "There is no subcommand 'modls'. Did you mean 'models'? {} pi -- modls 'it'\"'\"'s'"),
    ],
)
def test_a_word_close_to_a_subcommand_is_refused_with_the_way_to_send_it(fake, arguments, message):
    done = fake.run(*arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Error: {message.format('To send it as a prompt, put it after --:')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--", "instal"],
        ["instal the plugin"],
        ["-p", "instal"],
        ["hello"],
        ["watch", "it"],
        ["web's", "x"],
        ["wb"],
        ["explain", "it"],
    ],
)
def test_other_first_words_are_prompts(fake, arguments):
    (fake.agent_dir / "settings.json").write_text('{"defaultProvider": "fake", "defaultModel": "echo"}')
    done = fake.run(*arguments)

    assert (done.returncode, done.stdout) == (0, f"{arguments[-1]}\n")


def test_each_subcommand_with_two_letters_swapped_is_refused(tmp_path):
    host = PluginHost(Settings.in_memory(agent_dir=tmp_path))
    names = {name for name in host.registered_names("register_subcommands") if " " not in name}
    swapped = [
        (f"{name[:at]}{name[at + 1]}{name[at]}{name[at + 2 :]}", name)
        for name in names
        for at in range(len(name) - 1)
        if len(name) > 2 and name[at] != name[at + 1]
    ]
    assert len(swapped) > 100
    for word, name in swapped:
        with pytest.raises(UserError, match=f"There is no subcommand '{word}'. Did you mean '{name}'"):
            refuse_near_miss(first_word([word]), host)


def test_a_subcommand_of_an_extra_that_is_not_installed_is_refused_with_the_command_that_installs_it(pi_host):
    pi_host.disabled |= {"mcp"}

    with pytest.raises(UserError, match=r"'mcp' is not installed; .* 'pluggypi\[mcp\]' adds it\. .*pi -- mcp list"):
        refuse_near_miss(first_word(["mcp", "list"]), pi_host)


def test_every_subcommand_of_a_plugin_that_is_no_default_is_known_with_its_extra():
    found = {}
    for record in find_plugins()[0]:
        if not record.is_default and record.distribution.startswith("pluggypi-"):
            module = import_module(record.value)
            for each in getattr(module, "register_subcommands", list)():
                found[each.name] = record.distribution

    extras = requires("pluggypi") or []
    assert set(found) == set(EXTRAS)
    for name, distribution in found.items():
        assert any(
            each.startswith(distribution) and f"extra == '{EXTRAS[name]}'" in each.replace('"', "'") for each in extras
        )


@pytest.mark.parametrize(
    ("arguments", "way"),
    [
        (["sessions", "fsck", "x", "--session-dir", "y"], "PI_CODING_AGENT_SESSION_DIR or the setting sessionDir"),
        (["--session-dir", "y", "sessions", "list"], "PI_CODING_AGENT_SESSION_DIR or the setting sessionDir"),
        (["eval", "x.yaml", "--session-dir", "y"], "PI_CODING_AGENT_SESSION_DIR or the setting sessionDir"),
        (["eval", "x.yaml", "--offline"], "The variable PI_OFFLINE=1 does that"),
        (["list", "--models", "x"], "The setting enabledModels does that"),
    ],
)
def test_an_option_of_a_prompt_that_a_subcommand_does_not_take_names_what_has_its_effect(fake, arguments, way):
    done = fake.run(*arguments)

    assert done.returncode != 0
    assert way in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("word", ["packages", "pacakges", "packges"])
def test_the_name_of_a_command_elsewhere_is_refused_with_the_one_here(pi_host, word):
    with pytest.raises(UserError, match=rf"There is no subcommand '{word}'. Did you mean 'list'\? .*pi -- {word}"):
        refuse_near_miss(first_word([word]), pi_host)


@pytest.mark.parametrize("name", _MEANT)
def test_such_a_name_is_a_prompt_with_more_words_or_in_a_conversation(pi_host, name):
    with pytest.raises(UserError, match=f"Did you mean '{_MEANT[name]}'"):
        refuse_near_miss(first_word([name]), pi_host)

    refuse_near_miss(first_word([name, "it"]), pi_host)
    refuse_near_miss(first_word(["-c", name]), pi_host)
    refuse_near_miss(first_word(["-p", name]), pi_host)


def test_what_a_name_from_elsewhere_stands_for_is_there(tmp_path):
    host = PluginHost(Settings.in_memory(agent_dir=tmp_path))
    options = {name for option in own_options() for name in option.names} | {"--version"}

    for meant in _MEANT.values():
        assert meant in options or is_subcommand(meant.split()[0], host)
