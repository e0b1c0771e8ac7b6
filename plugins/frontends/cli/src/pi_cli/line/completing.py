"""Completion with Tab: commands and their arguments, ``@mentions`` of plugins, ``@files`` of the folder, paths."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completer, Completion, ThreadedCompleter, merge_completers

from pi_cli.words import one_line
from pi_terminal_kit.matching import at_word, best_matches, command_in, mention
from pi_terminal_kit.paths import names_for, path_word

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
    from pathlib import Path

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from pi_hookspecs import Completion as Offer

__all__ = ["CommandCompleter", "FileCompleter", "MentionCompleter", "PathCompleter", "line_completer"]

_MOST_SECONDS = 2.0
"""Maximum seconds for scanning a folder."""


def line_completer(
    names: Callable[[], Iterable[tuple[str, str]]],
    arguments: Callable[[str, str], Awaitable[Iterable[Offer]]],
    mentions: Callable[[str], Awaitable[Iterable[Offer]]],
    folder: Callable[[], Path],
) -> Completer:
    """Return the completer of a line.

    Args:
        names: Returns names and descriptions of the commands.
        arguments: Returns plugins' completions of a command's arguments typed so far.
        mentions: Returns plugins' completions of what is typed after an ``@``.
        folder: Returns the folder that the conversation is about.
    """
    files = ThreadedCompleter(FileCompleter(folder))
    at_words = merge_completers([MentionCompleter(mentions), files])
    return _FirstThatOffers(CommandCompleter(names, arguments), at_words, PathCompleter(folder))


class _FirstThatOffers(Completer):
    """Uses the first completer that offers any completions."""

    def __init__(self, *completers: Completer) -> None:
        self._completers = completers

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        offers = ([*each.get_completions(document, complete_event)] for each in self._completers)
        return next(filter(None, offers), [])

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for completer in self._completers:
            offers = False
            async for each in completer.get_completions_async(document, complete_event):
                offers = True
                yield each
            if offers:
                return


class CommandCompleter(Completer):
    """Completes a slash command at the beginning of the line: its name, then its arguments; see ``line_completer``."""

    def __init__(
        self,
        names: Callable[[], Iterable[tuple[str, str]]],
        arguments: Callable[[str, str], Awaitable[Iterable[Offer]]],
    ) -> None:
        self._names = names
        self._arguments = arguments

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of a command's name before the cursor."""
        command = command_in(document.text_before_cursor)
        if command is None or " " in command:
            return
        for name, description in self._names():
            if name.startswith(command[1:]):
                yield Completion(f"/{name}", start_position=-len(command), display_meta=description)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield the completions of a command's name or arguments before the cursor."""
        for each in self.get_completions(document, complete_event):
            yield each
        name, space, arguments = (command_in(document.text_before_cursor) or "/")[1:].partition(" ")
        if space:
            for offer in await self._arguments(name, arguments):
                yield _offered(offer, offer.value, -len(arguments))


class MentionCompleter(Completer):
    """Completes ``@`` with what plugins offer; see ``line_completer``."""

    def __init__(self, mentions: Callable[[str], Awaitable[Iterable[Offer]]]) -> None:
        self._mentions = mentions

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return nothing: plugins are awaited."""
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield the completions of the word before the cursor."""
        text = document.text_before_cursor
        found = at_word(text)
        if found is None:
            return
        for offer in await self._mentions(found.typed):
            yield _offered(offer, mention(offer.value), found.start - len(text))


def _offered(offer: Offer, text: str, start: int) -> Completion:
    label = one_line(offer.label if offer.label is not None else offer.value)
    return Completion(text, start_position=start, display=label, display_meta=one_line(offer.description))


class FileCompleter(Completer):
    """Completes ``@`` and a part of a path: files below the folder that git does not ignore.

    Args:
        folder: Returns the folder.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of the text before the cursor."""
        text = document.text_before_cursor
        found = at_word(text)
        if found is None:
            return
        for path in best_matches(_matching(os.fspath(self._folder()), found.typed), found.typed):
            yield Completion(mention(path), start_position=found.start - len(text), display=path)


class PathCompleter(Completer):
    """Completes the last word as a path, one folder at a time; hidden names only after a typed dot.

    Args:
        folder: Returns the folder that relative paths are below.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of the text before the cursor."""
        text = document.text_before_cursor
        word = path_word(text)
        if word is None or text[word.start] == "@" or " " not in (command_in(text) or " "):
            return
        for name in names_for(word, os.fspath(self._folder())):
            yield Completion(name, start_position=-len(word.begun))


def _matching(folder: str, typed: str) -> list[str]:
    """Return the files below a folder that may match."""
    from pi_terminal_kit.file_names import FileNames

    return [name for name in FileNames(folder, _listed).matching(typed) if not name.endswith("/")]


def _listed(folder: str) -> Iterator[str]:
    """Yield the files below a folder that are found in time."""
    from pi_core.resources.walking import relative_files
    from pi_git_kit import files_below

    end = time.monotonic() + _MOST_SECONDS
    for path in files_below(folder, relative_files):
        if time.monotonic() > end:
            return
        yield path
