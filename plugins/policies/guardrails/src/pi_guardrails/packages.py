"""Package managers: they install unreviewed code, and may remove the guard itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pi_guardrails.call import has_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_guardrails.call import Call, Judgement
    from pi_guardrails.words import Word

__all__ = ["MANAGERS", "installs", "installs_declared"]

_INSTALLS: dict[str, str] = {
    **dict.fromkeys(("pip", "pip3"), "install download wheel"),
    **dict.fromkeys(("npm", "cnpm"), "install i add in ins inst isntall it create init exec x"),
    **dict.fromkeys(("brew", "port", "scoop", "choco", "winget"), "install reinstall upgrade tap"),
    **dict.fromkeys(("apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "pkg"), "install reinstall localinstall"),
    **dict.fromkeys(("conda", "mamba", "micromamba"), "install create update"),
    **dict.fromkeys(("code", "codium", "cursor"), "--install-extension"),
    "apk": "add",
    "asdf": "install",
    "bun": "add install i x create",
    "bundle": "add",
    "cargo": "install binstall",
    "composer": "require create-project global",
    "deno": "install add",
    "dotnet": "tool_install add_package",
    "flatpak": "install",
    "gem": "install",
    "go": "install run get",
    "mise": "use install",
    "mix": "archive.install escript.install",
    "nix": "run shell profile_install",
    "nix-env": "-i -iA --install",
    "pacman": "-S -Sy -Syu -U",
    "pdm": "add",
    "pipenv": "install",
    "pipx": "install run inject runpip",
    "pnpm": "add install i dlx create",
    "poetry": "add self",
    "rye": "add install",
    "snap": "install",
    "uv": "add pip_install tool_install tool_run",
    "yarn": "add dlx create global",
}
"""Subcommands that install what their operands name."""

_SYSTEM_WIDE = frozenset("apt apt-get aptitude dnf yum zypper pkg apk pacman brew port snap flatpak".split())
"""Managers that install for the whole computer, files included."""

_ALWAYS_BRING = frozenset("npx pnpx bunx uvx".split())
_LOCAL_RUNNERS = frozenset({("npm", "exec"), ("npm", "x")})
_ONLY_LOCAL = re.compile(r"--no-install|--no|--offline|-v|--version|-h|--help")
_KNOWN_TOOLS = frozenset("pip setuptools wheel".split())
_WITH_VALUE = frozenset(
    "-r --requirement -c --constraint -C --prefix --group --extra --optional --python -p --directory --project --dir "
    "-t --target --root --path --cache-dir --registry --filter --workspace -w -n --name --version --depth --features "
    "--bin -F --log --timeout --retries --only-group".split()
)
_INDEXES = ("-i", "--index", "--extra-index", "--find-links", "-f", "--default-index", "--git", "--trusted-host")
_LOCAL = re.compile(
    r"(?!.*://)((\.{0,2}/.*|\.#.*|\.{1,2})(\[[\w, -]*\])?|.*\.(whl|tar\.gz|tgz|zip|deb|rpm))", re.DOTALL
)
_NORMAL = re.compile(r"[-_.]+")
_OWN = re.compile(r"pluggypi(-.*)?")
_REMOVES = {
    **dict.fromkeys(("pip", "pip3", "pipx", "conda", "mamba"), "uninstall remove uninstall-all"),
    "pdm": "remove",
    "pipenv": "uninstall",
    "poetry": "remove",
    "rye": "remove",
    "uv": "remove pip_uninstall tool_uninstall pip_sync",
}
_UNSEEN = "packages"
_BRINGS = "it fetches code that has not been reviewed: "
_OFF = ("guard-off", "it uninstalls packages of pi, possibly this guard")


def installs(call: Call) -> Iterator[Judgement]:
    """Yield findings about a call of a package manager."""
    name = call.name
    if name in _ALWAYS_BRING:
        calls = call.has_letter("c") or call.has_long("--call")  # which is a command of its own
        if call.operands and not calls and not _ONLY_LOCAL.fullmatch(call.texts[0]) and not _is_in_project(call):
            yield "ask", _UNSEEN, f"{_BRINGS}{_shown(call.operands[0])}"
        return
    for words in _INSTALLS.get(name, "").split():
        rest = _after(words, call.arguments)
        if rest is not None:
            yield from _brought(name, words, rest)
            break
    yield from _unusual(call)
    for words in _REMOVES.get(name, "").split():
        rest = _after(words, call.arguments)
        if rest is not None and _takes_pi(words, rest):
            yield "ask", *_OFF
            break


def installs_declared(call: Call) -> bool:
    """Whether ``install`` of a package manager names nothing, or only files and folders: what the project declares."""
    texts = [word.text for word in call.operands]
    named = call.operands[texts.index("install") + 1 :] if "install" in texts else call.operands
    wide = call.has_letter("g") or call.has_long("--global")
    return not wide and all(_is_known(word) or word.text in ("conanfile.txt", "conanfile.py") for word in named)


def _is_in_project(call: Call) -> bool:
    """Whether a runner of packages finds the program among those that the project has installed."""
    word = call.operands[0]
    if call.name == "uvx" or not (word.known and re.fullmatch(r"[\w-][\w.-]*", word.text)):
        return False
    folder = Path(call.places.cwd)
    within = [each for each in (folder, *folder.parents) if each.is_relative_to(call.places.root)]
    return any((each / "node_modules" / ".bin" / word.text).exists() for each in within)


def _unusual(call: Call) -> Iterator[Judgement]:
    """Yield findings about options and addresses that bring in code without a subcommand that installs."""
    name = call.name
    if call.has_long("--break-system"):
        yield "ask", _UNSEEN, "it installs into the system's Python"
    if name == "uv" and has_words(call.arguments[:1], "run") and call.has_long("--with", "--index", "--extra-index"):
        yield "ask", _UNSEEN, f"{_BRINGS}what --with names"
    if name == "uv" and any(word.text.startswith(("http:", "https:")) for word in call.operands[1:2]):
        yield "ask", _UNSEEN, f"{_BRINGS}{_shown(call.operands[1])}"
    if name == "deno" and any(word.text.startswith(("http", "npm:", "jsr:")) for word in call.operands):
        yield "ask", _UNSEEN, f"{_BRINGS}{_shown(call.operands[-1])}"


def _after(words: str, arguments: Sequence[Word]) -> Sequence[Word] | None:
    """Return the arguments after a subcommand, ``pip_install`` for two words; None for another subcommand."""
    wanted = words.split("_")
    for place, word in enumerate(arguments):
        if not wanted:
            return arguments[place:]
        if word.text == wanted[0]:
            wanted = wanted[1:]
        elif not word.text.startswith("-"):
            before = arguments[place - 1].text if place else ""
            if before not in _WITH_VALUE:
                return None
    return () if not wanted else None


def _brought(name: str, words: str, rest: Sequence[Word]) -> Iterator[Judgement]:
    if any(word.text.startswith(_INDEXES) for word in rest) and name in ("pip", "pip3", "uv", "pdm", "cargo"):
        yield "ask", _UNSEEN, "it gets packages from an unusual place"
        return
    if (name, words) in _LOCAL_RUNNERS and any(_ONLY_LOCAL.fullmatch(word.text) for word in rest):
        return
    if any(word.text.startswith(("http:", "https:")) for word in rest):
        yield "ask", _UNSEEN, f"{_BRINGS}the contents of a URL"
        return
    named = _named(rest)
    if name == "go":
        named = [word for word in named[:1] if not word.known or "@" in word.text]
    if name == "npm" and words == "init" and not named:
        return
    strange = [word for word in named if name in _SYSTEM_WIDE or not _is_known(word)]
    if strange:
        yield "ask", _UNSEEN, f"{_BRINGS}{_shown(strange[0])}"


def _named(rest: Sequence[Word]) -> list[Word]:
    """Return the operands, which are packages, without the values of options."""
    named = []
    for place, word in enumerate(rest):
        before = rest[place - 1].text if place else ""
        if word.text == "--":
            break
        if not word.text.startswith("-") and before not in _WITH_VALUE:
            named.append(word)
    return named


def _is_known(word: Word) -> bool:
    return word.known and (_LOCAL.fullmatch(word.text) is not None or word.text in _KNOWN_TOOLS)


def _takes_pi(words: str, rest: Sequence[Word]) -> bool:
    if words in ("uninstall-all", "pip_sync") or any(word.text.startswith(("-r", "--req", "--all")) for word in rest):
        return True
    return any(not word.known or _OWN.fullmatch(_NORMAL.sub("-", word.text.lower())) for word in rest)


def _shown(word: Word) -> str:
    return repr(word.text) if word.known else word.source


MANAGERS = frozenset({*_INSTALLS, *_REMOVES, *_ALWAYS_BRING})
"""The programs that ``installs`` handles."""
