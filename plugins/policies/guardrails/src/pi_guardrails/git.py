"""Dangers of git: losing uncommitted work or published commits, and settings that run programs."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_guardrails.call import Call, Judgement
    from pi_guardrails.words import Word

__all__ = ["git", "reads_only", "without_options"]

_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"})
_READERS = frozenset(
    "add annotate blame cat-file check-ignore describe diff grep log ls-files rev-parse show status".split()
)
_HARMLESS_SETTING = re.compile(
    r"(user|color|column|advice|pull|push|rerere|status|branch|log|tag|fetch)\.|init\.defaultbranch|commit\.gpgsign"
    r"|core\.(autocrlf|eol|filemode|ignorecase|longpaths|quotepath|safecrlf|abbrev|bare|symlinks)",
    re.IGNORECASE,
)
_RUNS_ANY = ("git-config", "it sets options that let git run any program")
_ADDRESS = re.compile(r"\w+://|[\w.-]+@[\w.-]+:|[\w-]+(\.[\w-]+)+:")
_REWRITES = ("git-rewrite", "it rewrites or deletes history that others may have")
_DISCARDS = ("git-discard", "it discards uncommitted work")


def git(call: Call) -> Iterator[Judgement]:
    """Yield findings about a call of git."""
    arguments = call.arguments
    rest = without_options(arguments)
    for option in arguments[: len(arguments) - len(rest)]:
        if option.text.startswith(("-c", "--config-env", "--exec-path")) and option.text != "--exec-path":
            yield "ask", *_RUNS_ANY
    if not rest or "--help" in call.texts[-1:]:
        return
    if not rest[0].known:
        yield "ask", "dynamic-command", f"what git does is known only at run time: {rest[0].source}"
        return
    judge = _JUDGES.get(rest[0].text, _nothing)
    words = rest[1:]
    if any(word.splits for word in words) and rest[0].text in ("push", "reset", "clean"):
        yield "ask", "dynamic-command", f"the options of git are known only at run time: git {rest[0].text}"
    yield from judge([word.text for word in words])
    if rest[0].text == "add":
        for word in words:
            if word.known and call.places.protection(word.text, written=False) is not None:
                yield "ask", "exfiltration", f"it stores {word.text!r}, which is protected, where others may read it"


def without_options(arguments: Sequence[Word]) -> tuple[Word, ...]:
    """Return the subcommand and its arguments."""
    rest = list(arguments)
    while rest and rest[0].text.startswith("-"):
        del rest[: 2 if rest[0].text in _WITH_VALUE else 1]
    return tuple(rest)


def reads_only(arguments: Sequence[Word]) -> bool:
    """Whether a call of git does not change the files that it names."""
    rest = without_options(arguments)
    return bool(rest) and rest[0].text in _READERS


def _letters(texts: list[str]) -> set[str]:
    return {letter for text in texts if re.match(r"-[^-]", text) for letter in text[1:]}


def _long(texts: list[str], *starts: str) -> bool:
    return any(text.startswith(starts) for text in texts)


def _push(texts: list[str]) -> Iterator[Judgement]:
    forced = _letters(texts) & {"f", "d"} or _long(texts, "--forc", "--del", "--mir", "--pru")
    if forced or _long([text for text in texts if not text.startswith("-")], "+", ":"):
        yield "ask", *_REWRITES
    if any(_ADDRESS.match(text) for text in texts):
        yield "ask", "exfiltration", "it sends the history to an address that is not one of the repository's remotes"


def _reset(texts: list[str]) -> Iterator[Judgement]:
    if _long(texts, "--har", "--mer", "--k"):
        yield "ask", *_DISCARDS


def _clean(texts: list[str]) -> Iterator[Judgement]:
    if _letters(texts) & {"f"} or _long(texts, "--f"):
        yield "ask", "delete", "it deletes every untracked file"


def _moves(texts: list[str], letter: str, *long: str) -> Iterator[Judgement]:
    """Judge ``checkout -B`` and ``switch -C``: a branch that exists loses its commits."""
    if letter in _letters(texts) or _long(texts, *long):
        yield "ask", "git-rewrite", "it moves a branch, whose commits may then be lost"


def _checkout(texts: list[str]) -> Iterator[Judgement]:
    yield from _moves(texts, "B")
    operands = [text for text in texts if not text.startswith("-")]
    of_files = len(operands) > 1 and not _letters(texts) & set("bBt") and not _long(texts, "--orp", "--tra")
    if of_files or _letters(texts) & {"f", "p"} or _long(texts, "--forc") or {"--", ".", "*", "./"} & set(texts):
        yield "ask", *_DISCARDS


def _restore(texts: list[str]) -> Iterator[Judgement]:
    if not _long(texts, "--sta") or _long(texts, "--wor"):
        yield "ask", *_DISCARDS


def _branch(texts: list[str]) -> Iterator[Judgement]:
    if "f" in _letters(texts) and not {"d", "m", "c"} & _letters(texts):
        yield "ask", "git-rewrite", "it moves a branch, whose commits may then be lost"
    if "D" in _letters(texts) or ("d" in _letters(texts) and "f" in _letters(texts)) or _long(texts, "--del", "--forc"):
        yield "ask", "git-rewrite", "it deletes a branch, merged or not"
    names = [text for text in texts if not text.startswith("-")]
    if _letters(texts) & {"M", "C"} and len(names) > 1:
        yield "ask", "git-rewrite", "it replaces a branch, merged or not"


def _switch(texts: list[str]) -> Iterator[Judgement]:
    yield from _moves(texts, "C", "--force-c")
    if "f" in _letters(texts) or _long(texts, "--forc", "--disc"):
        yield "ask", *_DISCARDS


def _stash(texts: list[str]) -> Iterator[Judgement]:
    if {"drop", "clear"} & set(texts[:1]) or ("-f" in texts and "branch" not in texts):
        yield "ask", *_DISCARDS


def _config(texts: list[str]) -> Iterator[Judgement]:
    if _long(texts, "--edit") or "e" in _letters(texts):
        yield "ask", *_RUNS_ANY
    operands = [text for text in texts if not text.startswith("-")]
    if operands[:1] == ["set"]:
        del operands[0]
    elif operands[:1] in (["get"], ["list"]) or _long(texts, "--get", "--list"):
        return
    elif operands[:1] in (["unset"], ["remove-section"], ["rename-section"]) or _long(texts, "--uns", "--rem", "--ren"):
        names = operands[1:] if operands[:1] in (["unset"], ["remove-section"], ["rename-section"]) else operands
        if not all(_HARMLESS_SETTING.match(f"{text}.") for text in names):
            yield "ask", "git-config", "it removes settings, such as hooks or the address of a remote"
        return
    if len(operands) > 1 and not all(_HARMLESS_SETTING.match(text) for text in operands[:-1]):
        yield "ask", *_RUNS_ANY


def _nothing(_texts: list[str]) -> Iterator[Judgement]:
    yield from ()


def _remove(texts: list[str]) -> Iterator[Judgement]:
    if not _long(texts, "--cac") and (_letters(texts) & {"r", "f"} or _long(texts, "--forc")):
        yield "ask", "delete", "it deletes folders, or modified files"


def _maintenance(texts: list[str]) -> Iterator[Judgement]:
    if {"start", "register"} & set(texts[:1]):
        yield "ask", "schedule", "it runs commands later, unattended"


def _worktree(texts: list[str]) -> Iterator[Judgement]:
    if "remove" in texts and (_letters(texts) & {"f"} or _long(texts, "--forc")):
        yield "ask", *_DISCARDS


def _tag(texts: list[str]) -> Iterator[Judgement]:
    if _letters(texts) & {"d", "f"} or _long(texts, "--del", "--forc"):
        yield "ask", "git-rewrite", "it deletes or moves a tag"


def _read_tree(texts: list[str]) -> Iterator[Judgement]:
    if _long(texts, "--res"):
        yield "ask", *_DISCARDS


def _fetch(texts: list[str]) -> Iterator[Judgement]:
    if "f" in _letters(texts) or _long(texts, "--forc") or _long([text for text in texts if text[:1] == "+"], "+"):
        yield "ask", "git-rewrite", "it moves branches, whose commits may then be lost"


def _symbolic(texts: list[str]) -> Iterator[Judgement]:
    if len([text for text in texts if not text.startswith("-")]) > 1 or _long(texts, "-d", "--del"):
        yield "ask", *_REWRITES


def _archive(texts: list[str]) -> Iterator[Judgement]:
    values = [each.partition("=")[2] or after for each, after in pairwise((*texts, "")) if each.startswith("--remote")]
    if any("::" in value for value in values) or any(text.startswith("--exec") for text in texts):
        yield "ask", *_RUNS_ANY


def _remote(texts: list[str]) -> Iterator[Judgement]:
    if {"remove", "rm"} & set(texts[:1]):
        yield "ask", "git-rewrite", "it removes a remote and everything fetched from it"


def _credential(texts: list[str]) -> Iterator[Judgement]:
    if {"fill", "get"} & set(texts):
        yield "ask", "secrets", "it prints the password of a remote"


def _publishes(_texts: list[str]) -> Iterator[Judgement]:
    yield "ask", "publish", "it sends commits to others, or lets them read the repository"


def _lfs(texts: list[str]) -> Iterator[Judgement]:
    if {"migrate"} & set(texts[:1]) or ("prune" in texts[:1] and _long(texts, "--f")):
        yield "ask", *_REWRITES


def _notes(texts: list[str]) -> Iterator[Judgement]:
    if {"remove", "prune"} & set(texts[:2]):
        yield "ask", *_REWRITES


def _annex(texts: list[str]) -> Iterator[Judgement]:
    if {"drop", "unannex", "uninit", "dropunused"} & set(texts[:1]):
        yield "ask", "delete", "it deletes the contents of files"


def _svn(texts: list[str]) -> Iterator[Judgement]:
    if {"dcommit", "submit", "commit"} & set(texts[:1]):
        yield from _publishes(texts)


def _always(_texts: list[str]) -> Iterator[Judgement]:
    yield "ask", *_REWRITES


def _each_commit(texts: list[str]) -> Iterator[Judgement]:
    if _long(texts, "--exec", "-x", "run"):
        yield "ask", "dynamic-command", "it runs a command for each commit"


def _apply(texts: list[str]) -> Iterator[Judgement]:
    if _long(texts, "--unsafe", "--dir"):
        yield "ask", "writes", "it may change files anywhere"


def _submodule(texts: list[str]) -> Iterator[Judgement]:
    if "deinit" in texts:
        yield "ask", *_DISCARDS
    if "foreach" in texts:
        yield "ask", "dynamic-command", "it runs a command in each submodule"


_JUDGES: dict[str, Callable[[list[str]], Iterator[Judgement]]] = {
    "am": _apply,
    "annex": _annex,
    "apply": _apply,
    "bisect": _each_commit,
    "branch": _branch,
    "checkout-index": lambda texts: iter(
        [("ask", *_DISCARDS)] if "f" in _letters(texts) or _long(texts, "--f") else []
    ),
    **dict.fromkeys(("credential", "credential-store", "credential-cache", "credential-osxkeychain"), _credential),
    **dict.fromkeys(("daemon", "instaweb", "imap-send", "http-push"), _publishes),
    **dict.fromkeys(("svn", "p4"), _svn),
    "fast-import": _always,
    "fetch": _fetch,
    "lfs": _lfs,
    "notes": _notes,
    "pull": _fetch,
    "archive": _archive,
    "remote": _remote,
    "symbolic-ref": _symbolic,
    "rerere": lambda texts: iter([("ask", *_DISCARDS)] if {"clear", "forget"} & set(texts) else []),
    "checkout": _checkout,
    "clean": _clean,
    "config": _config,
    "filter-branch": _always,
    "filter-repo": _always,
    "gc": lambda texts: iter([("ask", *_REWRITES)] if _long(texts, "--prune") else []),
    "maintenance": _maintenance,
    "prune": _always,
    "push": _push,
    "read-tree": _read_tree,
    "rebase": _each_commit,
    "reflog": lambda texts: iter([("ask", *_REWRITES)] if {"expire", "delete"} & set(texts) else []),
    "replace": _always,
    "reset": _reset,
    "restore": _restore,
    "rm": _remove,
    "stash": _stash,
    "submodule": _submodule,
    "switch": _switch,
    "tag": _tag,
    "update-ref": _always,
    "worktree": _worktree,
}
