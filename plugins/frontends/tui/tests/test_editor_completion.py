"""What is offered while the user types, taken into the editor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import Completion
from pi_testing import for_each
from pi_tui.editor.complete.commands import CommandSource, by_use
from pi_tui.editor.complete.files import FileSource, PathSource
from pi_tui.editor.complete.offers import Menu, Offer
from pi_tui.editor.complete.stack import Stack
from pi_tui.editor.complete.words import WordSource
from pi_tui.editor.state import Editor

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = [("model", "Select a model"), ("settings", ""), ("compact", "Shorten"), ("scoped-models", "")]


async def model_arguments(name: str, typed: str) -> list[Completion]:
    models = [Completion("m1", description="fast"), Completion("m2")]
    return [each for each in models if name == "model" and each.value.startswith(typed)]


commands = CommandSource(lambda: COMMANDS, model_arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("src/tide.py", "src/wind.py", "with space/a b.txt", ".hidden/x", "top.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return tmp_path


def walk(folder: str) -> list[str]:
    return ["src/tide.py", "src/wind.py", "with space/a b.txt", "top.py"]


async def offered(source, text: str, *, asked: bool = False) -> Offer | None:
    """Return what a source offers where ``|`` is, or at the end."""
    cursor = text.find("|") if "|" in text else len(text)
    return await source.offer(text.replace("|", "", 1), cursor, asked=asked)


async def completed(source, text: str, *, asked: bool = False) -> list[str]:
    """Return the texts that the offers lead to, with the cursor in them."""
    offer = await offered(source, text, asked=asked)
    if offer is None:
        return []
    editor = Editor().put(text.replace("|", "", 1))
    done = [editor.replaced(*Menu(offer, index).taken).text for index in range(len(offer.items))]
    return [f"{each.text[: each.cursor]}|{each.text[each.cursor :]}" for each in done]


async def test_the_name_of_a_command_is_completed_with_a_space() -> None:
    assert await completed(commands, "/mo") == ["/model |", "/scoped-models |"]
    assert await completed(commands, "/cpt") == ["/compact |"]
    assert await completed(commands, "/m| fast") == ["/model | fast", "/compact | fast", "/scoped-models | fast"]


async def test_blanks_before_a_command_do_not_count_and_stay() -> None:
    assert await completed(commands, "  /mo| fast") == ["  /model | fast", "  /scoped-models | fast"]
    assert await completed(commands, "\t/model m2") == ["\t/model m2|"]
    assert await completed(commands, "\n/mo") == []


async def test_all_commands_are_offered_by_name_with_their_descriptions() -> None:
    offer = await offered(commands, "/")

    assert offer is not None
    assert [(each.label, each.description) for each in offer.items] == COMMANDS


async def test_the_arguments_of_a_command_are_completed() -> None:
    assert await completed(commands, "/model ") == ["/model m1|", "/model m2|"]
    assert await completed(commands, "/model m2") == ["/model m2|"]
    assert await completed(commands, "/settings x") == []


@for_each("text", ["", "model", "see /mo", "one\n/mo", "/mo\nx"])
async def test_a_command_is_completed_only_where_a_text_begins(text: str) -> None:
    assert await completed(commands, text) == []


async def test_a_file_is_found_by_a_part_of_its_path(folder: Path) -> None:
    files = FileSource(lambda: str(folder), walk)

    assert await completed(files, "see @sti| now") == ["see @src/tide.py | now"]
    assert await completed(files, "see @src/") == ["see @src/|", "see @src/tide.py |", "see @src/wind.py |"]
    assert await completed(files, "a@src") == []


async def test_a_file_with_a_space_is_quoted_and_a_folder_stays_open(folder: Path) -> None:
    files = FileSource(lambda: str(folder), walk)

    assert await completed(files, "@with") == ['@"with space/|', '@"with space/a b.txt" |']
    assert await completed(files, '@"with space/a') == ['@"with space/a b.txt" |']


async def test_files_are_listed_anew_for_every_word_that_is_begun(folder: Path) -> None:
    walks: list[str] = []

    def counted(below: str) -> list[str]:
        walks.append(below)
        return walk(below)

    files = FileSource(lambda: str(folder), counted)
    for text in ("@", "@t", "@ti", "@tid"):
        await offered(files, text)
    assert len(walks) == 1

    for text in ("@top.py @w", "@top.py @wi", "@", "@n"):  # the last two in another prompt
        await offered(files, text)
    assert len(walks) == 3


async def test_what_plugins_mention_comes_before_files(folder: Path) -> None:
    async def mentions(typed: str) -> list[Completion]:
        return [Completion(f"issue:{typed}", description="An issue", label="Issue")]

    offer = await offered(FileSource(lambda: str(folder), walk, mentions), "@tide")

    assert offer is not None
    assert [(each.value, each.description) for each in offer.items] == [
        ("@issue:tide", "An issue"),
        ("@src/tide.py", ""),
    ]


async def test_a_path_is_completed_when_it_is_asked_for(folder: Path) -> None:
    paths = PathSource(lambda: str(folder))

    assert await completed(paths, "cat src/t") == []
    assert await completed(paths, "cat src/t", asked=True) == ["cat src/tide.py|"]
    assert await completed(paths, "cat s", asked=True) == ["cat src/|"]
    assert await completed(paths, f'cat "{folder}/to', asked=True) == [f'cat "{folder}/top.py"|']
    assert await completed(paths, "cat .h", asked=True) == ["cat .hidden/|"]
    assert await completed(paths, "cat nowhere/x", asked=True) == []
    assert await completed(paths, "cat ", asked=True) == []


async def test_a_path_with_a_space_is_put_in_quotation_marks(folder: Path) -> None:
    paths = PathSource(lambda: str(folder))

    assert await completed(paths, "cat w", asked=True) == ['cat "with space/|']
    assert await completed(paths, 'cat "with space/a', asked=True) == ['cat "with space/a b.txt"|']


async def test_a_home_is_a_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))

    assert await completed(PathSource(lambda: "/nowhere"), "~/to", asked=True) == ["~/top.py|"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_plugin_completes_the_word_before_the_cursor(is_async: bool) -> None:
    def plain(text: str, cursor: int) -> list[str]:
        return ["#12", "#123"] if text[:cursor].endswith("#1") else []

    async def awaited(text: str, cursor: int) -> list[str]:
        return plain(text, cursor)

    words = WordSource(awaited if is_async else plain)

    assert await completed(words, "fix #1| now") == ["fix #12| now", "fix #123| now"]
    assert await completed(words, "fix #2") == []


class Fixed:
    """Offers one text."""

    def __init__(self, value: str) -> None:
        self.value = value

    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        return Offer(0, cursor, (Completion(self.value),)) if self.value else None


class Broken:
    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        raise LookupError("no such thing")


async def test_the_first_source_that_offers_is_the_one_and_one_that_fails_costs_only_itself() -> None:
    problems: list[str] = []
    broken = Broken()
    stack = Stack([broken, Fixed(""), Fixed("one"), Fixed("two")], lambda source, error: problems.append(str(error)))

    assert await completed(stack, "x") == ["one|"]
    assert problems == ["no such thing"]


async def test_an_added_source_is_asked_first_until_it_is_removed() -> None:
    stack = Stack([Fixed("one")], lambda source, error: None)
    remove = stack.add(Fixed("plugin"))

    assert await completed(stack, "x") == ["plugin|"]
    remove()
    remove()
    assert await completed(stack, "x") == ["one|"]


async def test_the_next_key_cancels_what_is_looked_for() -> None:
    started, cancelled, found = asyncio.Event(), asyncio.Event(), asyncio.Queue()

    class Slow:
        async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
            if text == "second":
                return Offer(0, cursor, (Completion("done"),))
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

    stack = Stack([Slow()], lambda source, error: None)
    stack.ask("first", 5, found.put_nowait)
    await started.wait()
    stack.ask("second", 6, found.put_nowait)

    assert (await found.get()).items[0].value == "done"
    assert cancelled.is_set()
    assert found.empty()


async def test_a_cancelled_search_for_files_ends_its_thread(folder: Path) -> None:
    loop = asyncio.get_running_loop()
    begun, ended = asyncio.Event(), asyncio.Event()

    def endless(_folder: str):
        loop.call_soon_threadsafe(begun.set)
        try:
            while True:
                yield "src/tide.py"
        finally:
            loop.call_soon_threadsafe(ended.set)

    stack = Stack([FileSource(lambda: str(folder), endless)], lambda source, error: None)
    stack.ask("@zzz", 4, lambda offer: None)
    await begun.wait()
    stack.cancel()

    await ended.wait()


def test_a_list_goes_round_and_keeps_the_selected_row_in_view() -> None:
    menu = Menu(Offer(0, 0, tuple(Completion(str(number)) for number in range(25))))

    assert menu.window(5) == (0, menu.offer.items[:5])
    assert menu.moved(-1).selected == 24
    assert menu.moved(-1).window(5)[0] == 20
    assert menu.moved(-1).moved(1).selected == 0
    for number in range(25):
        first, items = menu.moved(number).window(5)
        assert first <= number < first + len(items)


NAMED = [(name, "") for name in ("agents", "budget", "model", "new", "resume", "settings", "todo", "tree")]


def test_commands_that_most_people_use_come_first_then_those_of_the_user():
    def order(*sent: str) -> str:
        return " ".join(name for name, _ in by_use(NAMED, sent))

    assert order() == "settings model resume tree new agents budget todo"
    assert order("/todo add milk", "/todo", "/budget", "todo agents") == (
        "settings model resume tree todo budget new agents"
    )
