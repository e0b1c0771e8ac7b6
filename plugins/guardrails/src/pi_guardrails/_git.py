"""What git can lose: work that is not committed, commits that others have, and settings that run programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_guardrails._findings import Verdict
    from pi_guardrails._words import Word

__all__ = ["git", "reads_only"]

Judgement: TypeAlias = "tuple[Verdict, str, str]"

_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"})
_READERS = frozenset(
    "add annotate blame cat-file check-ignore describe diff grep log ls-files rev-parse show status".split()
)
_REWRITES = ("git-rewrite", "it rewrites or deletes what others may have")
_DISCARDS = ("git-discard", "it throws away work that is not committed")


def git(arguments: Sequence[Word]) -> Iterator[Judgement]:
    """Yield what speaks against a call of git."""
    rest = list(arguments)
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0)
        if option.text.startswith(("-c", "--config-env", "--exec-path")) and option.text != "--exec-path":
            yield "ask", "git-config", "it sets options with which git can run any program"
        if option.text in _WITH_VALUE and rest:
            rest.pop(0)
    if not rest:
        return
    if not rest[0].known:
        yield "ask", "dynamic-command", f"what git does is known only when it runs: {rest[0].source}"
        return
    judge = _JUDGES.get(rest[0].text)
    if judge is None:
        return
    words = rest[1:]
    if any(word.splits for word in words) and rest[0].text in ("push", "reset", "clean"):
        yield "ask", "dynamic-command", f"how git does it is known only when it runs: git {rest[0].text}"
    yield from judge([word.text for word in words])


def reads_only(arguments: Sequence[Word]) -> bool:
    """Whether a call of git leaves the files that it names as they are."""
    return bool(arguments) and arguments[0].text in _READERS


def _letters(texts: list[str]) -> set[str]:
    return {letter for text in texts if re.match(r"-[^-]", text) for letter in text[1:]}


def _long(texts: list[str], *starts: str) -> bool:
    return any(text.startswith(starts) for text in texts)


def _push(texts: list[str]) -> Iterator[Judgement]:
    forced = _letters(texts) & {"f", "d"} or _long(texts, "--forc", "--del", "--mir", "--pru")
    if forced or _long([text for text in texts if not text.startswith("-")], "+", ":"):
        yield "ask", *_REWRITES


def _reset(texts: list[str]) -> Iterator[Judgement]:
    if _long(texts, "--har", "--mer", "--k"):
        yield "ask", *_DISCARDS


def _clean(texts: list[str]) -> Iterator[Judgement]:
    if _letters(texts) & {"f"} or _long(texts, "--f"):
        yield "ask", "delete", "it deletes every file that git does not know"


def _checkout(texts: list[str]) -> Iterator[Judgement]:
    if _letters(texts) & {"f", "p"} or _long(texts, "--forc") or {"--", ".", "*", "./"} & set(texts):
        yield "ask", *_DISCARDS


def _restore(texts: list[str]) -> Iterator[Judgement]:
    if not _long(texts, "--sta") or _long(texts, "--wor"):
        yield "ask", *_DISCARDS


def _branch(texts: list[str]) -> Iterator[Judgement]:
    if "D" in _letters(texts) or ("d" in _letters(texts) and "f" in _letters(texts)) or _long(texts, "--del", "--forc"):
        yield "ask", "git-rewrite", "it deletes a branch, merged or not"


def _switch(texts: list[str]) -> Iterator[Judgement]:
    if "f" in _letters(texts) or _long(texts, "--forc", "--disc"):
        yield "ask", *_DISCARDS


def _stash(texts: list[str]) -> Iterator[Judgement]:
    if {"drop", "clear"} & set(texts[:1]):
        yield "ask", *_DISCARDS


def _config(texts: list[str]) -> Iterator[Judgement]:
    runs = re.compile(
        r"(alias|filter|diff|merge|core\.(pager|editor|sshcommand|hookspath|fsmonitor)|credential)", re.IGNORECASE
    )
    if any(runs.match(text) for text in texts) and len(texts) > 1 and not _long(texts, "--get", "--unset", "--list"):
        yield "ask", "git-config", "it sets options with which git can run any program"


def _always(_texts: list[str]) -> Iterator[Judgement]:
    yield "ask", *_REWRITES


def _each_commit(texts: list[str]) -> Iterator[Judgement]:
    if _long(texts, "--exec", "-x", "run"):
        yield "ask", "dynamic-command", "it runs a command for each commit"


_JUDGES: dict[str, Callable[[list[str]], Iterator[Judgement]]] = {
    "bisect": _each_commit,
    "branch": _branch,
    "checkout": _checkout,
    "clean": _clean,
    "config": _config,
    "filter-branch": _always,
    "filter-repo": _always,
    "gc": lambda texts: iter([("ask", *_REWRITES)] if _long(texts, "--prune") else []),
    "push": _push,
    "rebase": _each_commit,
    "reflog": lambda texts: iter([("ask", *_REWRITES)] if {"expire", "delete"} & set(texts) else []),
    "reset": _reset,
    "restore": _restore,
    "stash": _stash,
    "submodule": lambda texts: iter([("ask", *_DISCARDS)] if {"deinit", "foreach"} & set(texts) else []),
    "switch": _switch,
    "update-ref": _always,
}
