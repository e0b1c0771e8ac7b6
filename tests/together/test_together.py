"""Whatever plugins and versions wrote into a session, everything that reads it does, and passes over the rest."""

from __future__ import annotations

import asyncio
import re
import subprocess
import traceback
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from mixed.entries import CUSTOM_TYPES, drawn_sessions, odd_calls, odd_entries
from mixed.opened import SETTINGS, Home
from mixed.readers import (
    COMMANDS,
    NO_READERS,
    OPENERS,
    READERS,
    RPC_THAT_CHANGES,
    RPC_WITHOUT_ENTRIES,
    SHOWING,
    SUBCOMMANDS,
    subcommands,
)

from pi_core import PluginHost, Settings
from pi_rpc_kit.handlers import HANDLERS
from pi_testing import ScriptedProvider, text, tool_call
from pi_testing.patience import PATIENCE


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "a.txt").write_text("a\n")
    return folder


async def problems_of(home: Home, readers, openers):
    """Return what failed while everything read a session, with its stack."""
    found = []
    original = home.file.read_bytes()
    if readers:
        async with home.opened(home.host()) as opened:
            for reader in readers:
                try:
                    done = reader(opened)
                    if done is not None:
                        await done
                    opened.check()
                except Exception:  # noqa: BLE001 - the next one is read as well
                    found.append(f"{reader.__name__}: {traceback.format_exc()}")
                    opened.problems.clear()
                    opened.ui.notices.clear()
    for opener in openers:
        home.only(original)
        try:
            await opener(home)
        except Exception:  # noqa: BLE001 - as above
            found.append(f"{opener.__name__}: {traceback.format_exc()}")
    return found


def read_by_all(tmp_path_factory, repository, drawn, readers=READERS, openers=OPENERS):
    with Home.made(tmp_path_factory.mktemp("home"), repository, drawn) as home:

        async def read():
            async with asyncio.timeout(PATIENCE):
                return await problems_of(home, readers, openers)

        found = asyncio.run(read())
        assert not found, "\n\n".join([f"A session of {', '.join(drawn.kinds)}, {home.file}:", *found])


@settings(max_examples=max(2, settings.default.max_examples // 5), phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(drawn=drawn_sessions())
def test_any_entries_are_read_by_all(tmp_path_factory, repository, drawn):
    read_by_all(tmp_path_factory, repository, drawn)


@pytest.mark.slow
def test_what_plugins_write_together_is_read_by_all(tmp_path_factory, repository):
    with Home.made(tmp_path_factory.mktemp("home"), repository, next(odd_calls())) as home:
        home.only(home.file.read_bytes().splitlines(keepends=True)[0])
        asyncio.run(write_with_plugins(home))
        drawn = home.read()
    read_by_all(tmp_path_factory, repository, drawn)

    assert {"agent", "rewind", "todo"} <= {line.get("customType") for line in drawn.lines}


async def write_with_plugins(home):
    script = ScriptedProvider()
    script.turn(tool_call("todo", action="add", text="buy milk"), tool_call("write", path="b.txt", content="b"))
    script.turn(tool_call("task", prompt="Look around")).turn(text("Looked.")).turn(text("All done."))
    script.turn(tool_call("bash", command="rm b.txt; exit 3"), tool_call("no-such-tool")).turn(text("Gone."))
    async with home.opened(home.host(), script=script) as opened:
        await opened.session.prompt("prompt0x")
        await opened.session.execute_bash("echo mine")
        await opened.session.prompt("prompt1x")
        opened.session.set_label(opened.session.session_manager.leaf_id, "pin")
        await opened.session.set_session_name("Milk")


@pytest.mark.slow
def test_plugins_pass_over_data_that_is_not_theirs(tmp_path_factory, repository):
    for drawn in odd_entries():
        read_by_all(tmp_path_factory, repository, drawn, openers=[subcommands])


@pytest.mark.slow
def test_all_tools_are_shown_with_any_arguments_and_details(tmp_path_factory, repository):
    for drawn in odd_calls():
        read_by_all(tmp_path_factory, repository, drawn, SHOWING, openers=[])


# The lists are complete


@pytest.fixture(scope="module")
def host():
    return PluginHost(Settings.in_memory(SETTINGS))


def test_a_subcommand_reads_sessions_or_is_listed_as_one_that_does_not(host):
    run = " ".join(SUBCOMMANDS.values()).split()
    names = {name for name in host.registered_names("register_subcommands") if not {*name.split()} <= {*run}}

    assert names - NO_READERS == set()


def test_a_command_reads_entries_or_is_listed_as_one_that_does_not(host):
    names = {f"/{name}" for name in host.registered_names("register_commands")}

    assert names - {line.split()[0] for line in COMMANDS} - NO_READERS == set()


def test_an_rpc_command_reads_or_is_listed_as_one_that_does_not():
    reading = {name for name in HANDLERS if name.startswith("get_")}

    assert {*HANDLERS} - reading - {*RPC_THAT_CHANGES} == set()
    assert {*RPC_WITHOUT_ENTRIES} < reading


def test_exporters_and_stores_are_what_the_readers_find(host):
    assert {"html", "markdown"} <= host.find_all("register_exporters").keys()
    assert {"jsonl", "sqlite"} <= host.find_all("register_session_stores").keys()


def test_the_data_of_every_plugin_that_appends_entries_is_in_the_table():
    found = set()
    for file in Path("plugins").resolve().glob("*/*/src/*/**/*.py"):
        for name in re.findall(r"\bappend_(?:custom_)?entry\(\s*([\w\"-]+)", file.read_text(encoding="utf-8")):
            src = next(each for each in file.parents if each.name == "src")
            module = ".".join(file.relative_to(src).with_suffix("").parts)
            found.add(name.strip('"') if name.startswith('"') else getattr(import_module(module), name))

    assert found - CUSTOM_TYPES.keys() == set()
    assert len(found) > 3
