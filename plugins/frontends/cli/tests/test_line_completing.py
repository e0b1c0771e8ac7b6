"""What Tab offers on the line."""

from __future__ import annotations

import asyncio
import subprocess

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pi_cli.line.completing import CommandCompleter, FileCompleter, PathCompleter, line_completer
from pi_hookspecs import Completion
from pi_testing.patience import PATIENCE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("pi_cli.line.completing._MOST_SECONDS", PATIENCE)
    for name in ("tide.py", "src/tidal/tables.py", "src/main.py", "with space.txt", "build/out.py", ".hidden/tide"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tmp_path / ".gitignore").write_text("build/\n")
    return tmp_path


def offered(completer, text):
    """Return the whole text as each offer would make it."""
    return [text[: len(text) + each.start_position] + each.text for each in asyncio.run(offers(completer, text))]


async def offers(completer, text):
    return [each async for each in completer.get_completions_async(Document(text, len(text)), CompleteEvent())]


def answering(*offered):
    """Return what answers with these, whatever is typed."""

    async def answer(*_typed):
        return offered

    return answer


def test_at_completes_files_of_the_folder_best_first_and_no_ignored_ones(folder):
    files = FileCompleter(lambda: folder)

    assert offered(files, "look at @ti") == ["look at @tide.py", "look at @src/tidal/tables.py"]
    assert offered(files, "@out") == []
    assert offered(files, "(@main") == ["(@src/main.py"]


def test_at_completes_what_git_lists_in_a_repository(folder):
    workflow = folder / ".github" / "tide.yml"
    workflow.parent.mkdir()
    workflow.touch()
    subprocess.run(["git", "init", "-q", folder], check=True)

    assert offered(FileCompleter(lambda: folder), "@yml") == ["@.github/tide.yml"]
    assert offered(FileCompleter(lambda: folder), "@out") == []


def test_at_finds_a_file_by_its_letters(folder):
    assert offered(FileCompleter(lambda: folder), "@stb") == ["@src/tidal/tables.py"]


def test_a_name_with_a_space_is_quoted(folder):
    files = FileCompleter(lambda: folder)

    assert offered(files, "@with") == ['@"with space.txt"']
    assert offered(files, '@"with s') == ['@"with space.txt"']


@pytest.mark.parametrize("text", ["me@tide", "tide", "@tide done"])
def test_what_is_no_reference_to_a_file_is_left_alone(folder, text):
    assert offered(FileCompleter(lambda: folder), text) == []


def test_a_word_is_completed_as_a_path_one_folder_at_a_time(folder):
    paths = PathCompleter(lambda: folder)

    assert offered(paths, "see ti") == ["see tide.py"]
    assert offered(paths, "see src/") == ["see src/main.py", "see src/tidal/"]
    assert offered(paths, f'see "{folder}/src/m') == [f'see "{folder}/src/main.py']
    assert offered(paths, "see .hid") == ["see .hidden/"]
    assert offered(paths, "see nowhere/x") == []


def test_a_path_in_the_home_folder_is_completed(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))

    assert offered(PathCompleter(lambda: folder / "src"), "open ~/ti") == ["open ~/tide.py"]


def test_commands_and_their_arguments_are_completed():
    commands = CommandCompleter(
        lambda: [("model", "Choose"), ("more", "")],
        answering(Completion("two", description="The second")),
    )

    assert offered(commands, "/mo") == ["/model", "/more"]
    assert offered(commands, "/model tw") == ["/model two"]
    assert offered(commands, "say /mo") == []
    assert offered(commands, "one\n/mo") == []


def test_blanks_before_a_command_do_not_count():
    completer = CommandCompleter(lambda: [("model", "Select")], answering(Completion("m1")))

    assert offered(completer, "  /mo") == ["  /model"]
    assert offered(completer, " /model ") == [" /model m1"]
    assert offered(completer, "see /mo") == []


def test_where_a_command_offers_something_paths_are_not_offered(folder):
    async def arguments(_name, typed):
        return [Completion("tidy")] if typed == "ti" else []

    completer = line_completer(lambda: [("thinking", "")], arguments, answering(), lambda: folder)

    assert offered(completer, "/thinking ti") == ["/thinking tidy"]
    assert offered(completer, "/import tid") == ["/import tide.py"]


def test_mentions_of_plugins_are_offered_before_files(folder):
    mentions = answering(Completion("docs:tide", label="Tide tables"), Completion("my tides"))
    completer = line_completer(list, answering(), mentions, lambda: folder)

    assert offered(completer, "see @ti") == [
        "see @docs:tide",
        'see @"my tides"',
        "see @tide.py",
        "see @src/tidal/tables.py",
    ]
    assert offered(completer, "see ti") == ["see tide.py"]


def test_offers_have_their_labels_and_descriptions_on_one_line(folder):
    mentions = answering(Completion("docs:tide", label="Tide\ntables", description="High\nand low"))
    completer = line_completer(list, answering(), mentions, lambda: folder / "src" / "tidal")

    (offer,) = asyncio.run(offers(completer, "@docs"))
    assert (offer.display_text, offer.display_meta_text) == ("Tide tables", "High and low")
