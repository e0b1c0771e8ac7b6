"""Parsing of ``keybindings.json``: the keys that the user assigned to actions, and problems with the file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_tui.keys.actions import ACTIONS
from pi_tui.keys.names import known_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["KeyFile", "parse_key_file", "read_key_file"]

_EARLIER_NAMES = {
    **{
        name: f"tui.editor.{name}"
        for name in (
            *("cursorUp", "cursorDown", "cursorLeft", "cursorRight", "cursorWordLeft", "cursorWordRight"),
            *("cursorLineStart", "cursorLineEnd", "jumpForward", "jumpBackward", "pageUp", "pageDown"),
            *("deleteCharBackward", "deleteCharForward", "deleteWordBackward", "deleteWordForward"),
            *("deleteToLineStart", "deleteToLineEnd", "yank", "yankPop", "undo"),
        )
    },
    **{name: f"tui.input.{name}" for name in ("newLine", "submit", "tab", "copy")},
    **{
        f"select{name}": f"tui.select.{name[0].lower()}{name[1:]}"
        for name in ("Up", "Down", "PageUp", "PageDown", "Confirm", "Cancel")
    },
    **{name: f"app.{name}" for name in ("interrupt", "clear", "exit", "suspend")},
    "cycleThinkingLevel": "app.thinking.cycle",
    "toggleThinking": "app.thinking.toggle",
    "cycleModelForward": "app.model.cycleForward",
    "cycleModelBackward": "app.model.cycleBackward",
    "selectModel": "app.model.select",
    "expandTools": "app.tools.expand",
    "externalEditor": "app.editor.external",
    "followUp": "app.message.followUp",
    "dequeue": "app.message.dequeue",
    "pasteImage": "app.clipboard.pasteImage",
    "newSession": "app.session.new",
    **{name: f"app.session.{name}" for name in ("tree", "fork", "resume")},
    "toggleSessionNamedFilter": "app.session.toggleNamedFilter",
    "toggleSessionPath": "app.session.togglePath",
    "toggleSessionSort": "app.session.toggleSort",
    "renameSession": "app.session.rename",
    "deleteSession": "app.session.delete",
    "deleteSessionNoninvasive": "app.session.deleteNoninvasive",
    "treeFoldOrUp": "app.tree.foldOrUp",
    "treeUnfoldOrDown": "app.tree.unfoldOrDown",
    "treeEditLabel": "app.tree.editLabel",
    "treeToggleLabelTimestamp": "app.tree.toggleLabelTimestamp",
}
"""Names of actions in files that were written for early versions; they are still supported."""


class KeyFile(NamedTuple):
    """The parsed contents of a file.

    Attributes:
        keys: The canonical keys of the actions that the file names; None if it is unusable, so that the previous keys
            stay.
        problems: One line for each problem; the rest of the file is used.
    """

    keys: Mapping[str, tuple[str, ...]] | None
    problems: tuple[str, ...] = ()


def read_key_file(file: Path) -> KeyFile:
    """Read and parse a file; a file that does not exist changes no keys."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return KeyFile({})
    except OSError as error:
        return KeyFile(None, (f"{str(file)!r} cannot be read: {error.strerror}.",))
    except UnicodeDecodeError as error:
        return KeyFile(None, (f"{str(file)!r} is not UTF-8 at byte {error.start}: save it as UTF-8.",))
    return parse_key_file(text, str(file))


def parse_key_file(text: str, name: str) -> KeyFile:
    """Parse the text of a file.

    Args:
        text: The JSON text.
        name: The file's name, for the descriptions of problems.
    """
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        until = "Until it is, no key is changed (see pi help keybindings)."
        return KeyFile(None, (f"{name!r} is not JSON at {where}: {error.msg}. {until}",))
    except ValueError:
        return KeyFile(
            None, (f"{name!r} contains a number that is too long; it is an object of actions and their keys.",)
        )
    except RecursionError:
        return KeyFile(None, (f"{name!r} is nested too deeply; it is an object of actions and their keys.",))
    if not isinstance(pairs, _Pairs):
        example = '{"app.session.new": "ctrl+shift+n"}'
        return KeyFile(None, (f"{name!r} is not a JSON object: write actions and their keys, as in {example}.",))
    keys: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for action, value in pairs:
        known = _EARLIER_NAMES.get(action, action)
        where = f"{name!r}, line {_line_of(text, action)}"
        if known not in ACTIONS:
            problems.append(f"{where}: there is no action {action!r}{_similar(action)}; it is ignored.")
        elif (wanted := _keys(value)) is None:
            problems.append(
                f"{where}: {action!r} must be a key or a list of keys, not {_short(value)}; its default is used."
            )
        elif known == action or known not in keys:
            keys[known] = tuple(key for written in wanted if (key := known_key(written)) is not None)
            problems += _unknown_keys(where, action, wanted)
            if wanted and not keys[known]:
                del keys[known]
    problems += [f"{name!r}: {action!r} occurs more than once; the last one is used." for action in _repeated(pairs)]
    return KeyFile(keys, tuple(problems))


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, including repeated names."""


def _keys(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and not isinstance(value, _Pairs) and all(isinstance(each, str) for each in value):
        return value
    return None


def _unknown_keys(where: str, action: str, wanted: list[str]) -> Iterator[str]:
    unknown = [key for key in wanted if known_key(key) is None]
    rest = "its default is used" if len(unknown) == len(wanted) else "its other keys are used"
    for key in unknown:
        yield (
            f"{where}: {action!r} names {key!r}, which is not a key; {rest}. Write keys as 'ctrl+shift+x', 'f5' or"
            " 'pageUp'."
        )


def _repeated(pairs: list[tuple[str, Any]]) -> list[str]:
    names = [name for name, _ in pairs]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def _line_of(text: str, action: str) -> int:
    """Return the number of the last line with an action's name in its usual JSON form; 1 if it is not found."""
    found = [*re.finditer(rf"{re.escape(json.dumps(action, ensure_ascii=False))}\s*:", text)]
    return text.count("\n", 0, found[-1].start()) + 1 if found else 1


def _similar(action: str) -> str:
    from difflib import get_close_matches

    similar = get_close_matches(action, ACTIONS, n=1)
    return f"; did you mean {similar[0]!r}?" if similar else ""


def _short(value: Any) -> str:
    shown = repr(dict(value) if isinstance(value, _Pairs) else value)
    return shown if len(shown) < 60 else f"{shown[:57]}..."  # noqa: PLR2004
