"""Tables of the options with which programs start other programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_guardrails.files import is_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_guardrails.words import Word

__all__ = ["can_start_programs", "starts_program"]

_EDITOR = "-c -S -s --cmd +"
_GO = "-exec -toolexec -vettool --exec --toolexec --vettool"
_LATEX = "-shell-escape --shell-escape -enable-write18 --enable-write18"
_TAR = (
    "-I -F --to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script"
    " --new-volume-script"
)
_REMOTE = "--upload-pack --receive-pack --exec ext::"

_STARTS_PROGRAMS = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _TAR),
    **dict.fromkeys(("vim", "vi", "nvim", "view", "gvim", "rvim", "vimdiff", "ex"), _EDITOR),
    **dict.fromkeys(("emacs", "emacsclient"), "-e -l -f -eval --eval --load --funcall"),
    **dict.fromkeys(("go build", "go run", "go test", "go vet", "go install"), _GO),
    **dict.fromkeys(("git fetch", "git pull", "git push", "git ls-remote", "git archive", "git submodule"), _REMOTE),
    **dict.fromkeys(("pdflatex", "latex", "lualatex", "xelatex", "tex", "latexmk"), _LATEX),
    **dict.fromkeys(("make", "gmake"), "--eval SHELL= .SHELLFLAGS= MAKEFLAGS="),
    **dict.fromkeys(("npm", "npx", "pnpm"), "-c --call --script-shell --globalconfig --userconfig --node-options"),
    **dict.fromkeys(("ag", "ack", "bat", "batcat", "delta"), "--pager"),
    **dict.fromkeys(("youtube-dl", "yt-dlp"), "--exec --netrc-cmd"),
    **dict.fromkeys(("node", "nodejs"), "data: --import=data: --loader=data: --experimental-loader=data:"),
    "aria2c": "--on-",
    "kak": "-e -E",
    "lf": "-command",
    "ranger": "--cmd",
    "subl": "--command",
    "vifm": "-c --cmd +",
    "bind": "-x",
    "entr": "-s",
    "cargo": "--config",
    "complete": "-C",
    "compgen": "-C",
    "cpio": "--rsh-command",
    "curl": "-K --config",
    "enable": "-f",
    "expect": "-c",
    "fc": "*",
    "fzf": "--preview --bind",
    "gdb": "-ex -x -iex --eval-command --init-eval-command --command",
    "git clone": "-c -u --config --template ext:: --upload-pack",
    "git difftool": "-x --extcmd",
    "git grep": "-O --open-files-in-pager",
    "git init": "--template",
    "git remote": "ext::",
    "git send-email": "*",
    "hash": "-p",
    "hg": "--config",
    "install": "--strip-program",
    "just": "-c --command --shell",
    "less": "-k --lesskey-file --lesskey-src --lesskey-content +",
    "lldb": "-o -O -s -S -k -K --one-line --source",
    "man": "-P -H --pager --html",
    "mapfile": "-C",
    "nix": "-c --command",
    "nix-shell": "--run --command",
    "nodemon": "-x --exec",
    "pandoc": "-F -L --filter --lua-filter --pdf-engine",
    "readarray": "-C",
    "rg": "--pre --hostname-bin",
    "rsync": "-e --rsh --rsync-path",
    "scp": "-S -o -D",
    "script": "-c --command",
    "sftp": "-S -o -D",
    "sort": "--compress-program",
    "split": "--filter",
    "ssh-add": "-s",
    "ssh-keygen": "-D",
    "svn": "--config-option",
    "watchexec": "*",
    "wget": "-e --execute --use-askpass",
    "zip": "-TT --unzip-command",
}
"""``is_option`` defines the syntax of options. A program's subcommand is part of its name."""

_HARMLESS = re.compile(r"\+(\d*|F|G|/[^\n|]*)")
"""Positions in a file, which pagers and editors accept after ``+`` like a command."""

_BARE_LETTERS = frozenset({"tar", "gtar", "bsdtar"})
"""Programs whose first argument is option letters, even without a dash."""


_DEBUGS = {"gdb": ("-ex", "--eval-command"), "lldb": ("-o", "--one-line")}
_DEBUG_STEP = re.compile(
    r"(r|run|start|c|cont|continue|n|next|s|step|finish|where|up|down|q|quit|kill|bt|backtrace)( full| all)?( \d+)?"
    r"|thread( apply)? (all )?(bt|backtrace)( full| all)?|(info|frame|list|l|b|t?break|breakpoint set)( [\w.:,-]+)*"
    r"|set (pagination|confirm|width|height|print [\w-]+|breakpoint pending) \w+|(register|memory) read [\w $-]*"
    r"|(p|print|x|display)(/\w+)? [\w$.>*&\[\]-]+"
)
"""Commands of debuggers that look at a program, without a call of one of its functions."""


def starts_program(name: str, arguments: Sequence[Word]) -> str | None:
    """Return the argument with which a program starts another one; None if there is none.

    Args:
        name: The program, with its subcommand if it has subcommands: ``git clone``.
        arguments: What follows the name.
    """
    options = _STARTS_PROGRAMS.get(name, "").split()
    for place, word in enumerate(arguments):
        value = arguments[place + 1].text if place + 1 < len(arguments) else ""
        if word.text in _DEBUGS.get(name, ()) and _DEBUG_STEP.fullmatch(value):
            continue
        text = f"-{word.text}" if word is arguments[0] and name in _BARE_LETTERS and word.text[:1] != "-" else word.text
        if any(is_option(option, text) for option in options) and not _HARMLESS.fullmatch(text):
            return word.source or word.text
    return None


def can_start_programs(name: str) -> bool:
    """Whether a program has options that start another one."""
    return name in _STARTS_PROGRAMS
