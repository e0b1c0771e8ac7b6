"""Variables of a script: their values, certain or several possible ones, and names that change what a command does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_guardrails.words import fields, source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tree_sitter import Node

    from pi_guardrails.paths import Places
    from pi_guardrails.script import Command
    from pi_guardrails.words import Word

__all__ = ["ASSIGNMENT", "combined", "effect_of", "filled_by_builtins", "listed_paths", "plain_values", "settled_value"]

TEMPORARY = "/tmp/tmp.XXXXXXXXXX"  # noqa: S108 - a name that is compared, never opened

_SETS_OTHERS = frozenset(
    ". alias builtin declare enable eval export getopts let local mapfile read readarray readonly source trap typeset "
    "unset wait".split()
)
"""Words with which a script may set a variable without ``NAME=value``, or under a computed name."""

_OF_THE_SHELL = re.compile(
    r"BASH.*|COMP.*|DIRSTACK|EUID|FUNCNAME|GROUPS|HIST.*|HOME|IFS|LINENO|MAPFILE|OLDPWD|OPT.*|PATH|PIPESTATUS|PPID|PWD"
    r"|RANDOM|REPLY|SECONDS|SHELL.*|SRANDOM|TMPDIR|UID|_"
)
"""Variables whose value the shell changes or interprets in ways not covered here."""

_PLAIN = re.compile(r"[\w./:@%+,=-]{1,1000}", re.ASCII)
"""Text that the shell does not change, quoted or not; short, because it may be inserted in many places."""

_MOST_GUESSES = 4

_WITH_VARIABLE = re.compile(r"(?P<before>[\w./-]*)\$(\{)?(?P<name>[A-Za-z_]\w*)(?(2)\})(?P<after>[\w./-]*)", re.ASCII)
_COUNTS = re.compile(r"\{\w+\.\.\w+\}|\$\(seq [\d ]+\)")
_PATTERN = re.compile(r"[\w./*?][\w./*?@+,%:-]*", re.ASCII)

_MKTEMP = re.compile(
    r"\$\(\s*mktemp(\s+(-[dqut]+|--directory|--quiet|--suffix=[\w.-]+|[\w.-]+|/tmp/[\w-][\w.-]*|2>/dev/null))*\s*\)",
    re.ASCII,
)


def settled_value(node: Node, variables: Mapping[str, str], assigned: Mapping[str, int], words: set[str]) -> str | None:
    """Return the value of a variable from an assignment to the end of the script; None if uncertain.

    Args:
        node: The assignment.
        variables: Variables with known values at this place.
        assigned: How often the script assigns each variable.
        words: All words of the script, without their quotes.
    """
    name, *_ = (source(child) for child in node.children)
    if _OF_THE_SHELL.fullmatch(name) or not name.isidentifier() or not _always_runs(node):
        return None
    if assigned[name] != 1 or "IFS" in assigned or name in words:
        return None
    if words & _SETS_OTHERS or {"printf", "-v"} <= words:
        return None
    operator, value = node.children[1], node.children[-1]
    if source(operator) != "=" or value is operator:
        return None
    if _MKTEMP.fullmatch(source(value).strip('"')):
        return TEMPORARY if "TMPDIR" not in assigned else None
    return next(plain_values([value], variables), None)


def plain_values(values: Iterable[Node], variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the known values that the shell does not change, even unquoted."""
    for value in values:
        found = fields(value, variables)
        if len(found) == 1 and _PLAIN.fullmatch(found[0].text) is not None:
            yield found[0].text


def listed_paths(written: str, lists: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the paths and patterns of paths that a word with the variable of a loop becomes; empty if uncertain.

    Args:
        written: The word: ``"tests/$name"``.
        lists: What loops go through, by the names of their variables: ``*.sh``.
    """
    found = _WITH_VARIABLE.fullmatch(written.replace('"', ""))
    values = (
        [value for text in lists.get(found["name"], ()) for value in _COUNTS.sub("*", text).split()] if found else []
    )
    if found is None or not all(map(_PATTERN.fullmatch, values)):
        return []
    return [found["before"] + value + found["after"] for value in values]


def combined(guesses: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return sets of values for variables with several possible ones, so that each value is in some set.

    A danger in any one of them is worth a question. Only the first few values are examined.
    """
    count = min(max(map(len, guesses.values()), default=0), _MOST_GUESSES)
    return [
        {name: values[min(turn, len(values) - 1)] for name, values in guesses.items() if values}
        for turn in range(count)
    ]


def _always_runs(node: Node) -> bool:
    """Whether a script always executes a place, and in the shell itself rather than a subshell."""
    at, parent = node, node.parent
    while parent is not None and parent.type in ("list", "redirected_statement", "variable_assignments"):
        if parent.type == "list" and parent.children[0] != at:
            return False
        at, parent = parent, parent.parent
    after = at.next_sibling
    return parent is not None and parent.type == "program" and (after is None or after.type != "&")


Effect: TypeAlias = Literal["command", "code"]

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=(.*)", re.ASCII | re.DOTALL)

_COMMANDS = frozenset(
    "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER AWS_PAGER GH_PAGER DELTA_PAGER BAT_PAGER EDITOR VISUAL GIT_EDITOR "
    "GIT_SEQUENCE_EDITOR SVN_EDITOR HGEDITOR FCEDIT SUDO_EDITOR BROWSER GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF "
    "GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND LESSOPEN LESSCLOSE RSYNC_RSH CVS_RSH SVN_SSH HGMERGE "
    "PROMPT_COMMAND RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC CC CXX CPP AR LD NM RANLIB FC F77 SHELL "
    "TERMINAL FZF_DEFAULT_COMMAND FZF_CTRL_T_COMMAND FZF_ALT_C_COMMAND KUBE_EDITOR KUBECTL_EXTERNAL_DIFF PSQL_EDITOR "
    "PSQL_PAGER MYSQL_PAGER JJ_EDITOR JJ_PAGER GH_EDITOR GH_BROWSER BUNDLER_EDITOR CMAKE_C_COMPILER_LAUNCHER "
    "CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER HOMEBREW_EDITOR SYSTEMD_EDITOR LESSEDIT LYEDITOR TEXEDIT "
    "CVSEDITOR P4EDITOR P4DIFF P4MERGE MAILER NPM_CONFIG_EDITOR npm_config_editor BATPIPE DIFFPROG".split()
)
"""Variables whose value is executed."""

_A_FILE = "^(?!/dev/null$)"

_CODE = {
    "BASH_ENV|ENV|PS[0-4]|SHELLOPTS|BASHOPTS|BASH_CMDS|BASH_ALIASES|ZDOTDIR|INPUTRC|CDPATH": ".",
    "LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_INSERT_LIBRARIES|DYLD_LIBRARY_PATH|GCONV_PATH|OPENSSL_CONF": ".",
    "GIT_CONFIG_.*|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_ALLOW_PROTOCOL": r"(?!/dev/null$|[01]$|true$)",
    "GIT_DIR|GIT_WORK_TREE": r"^(?!\.git$|\.$)",
    "PI_.*DIR|PI_DISABLE_.*": ".",
    "HOME|XDG_CONFIG_HOME|XDG_CONFIG_DIRS": ".",
    "LESS": r"\+|k",
    "LESSKEY.*|VIMINIT|EXINIT|MYVIMRC": ".",
    "PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|PYTHONHOME|PYTHONUSERBASE|PYTHONBREAKPOINT|LUA_INIT.*|PHPRC": ".",
    "NODE_OPTIONS": "(^|\\s)(-r|--require|--import|--(experimental-)?loader|--eval|-e)",
    "MAKEFLAGS|GNUMAKEFLAGS|MFLAGS": "eval|SHELL|-f",
    "MAKEFILES|CMAKE_TOOLCHAIN_FILE|CMAKE_PROJECT_TOP_LEVEL_INCLUDES|CARGO_HOME|NIX_PATH|BUNDLE_GEMFILE|GEM_HOME": ".",
    "PSQLRC|RIPGREP_CONFIG_PATH|BAT_CONFIG_(PATH|DIR)|FZF_DEFAULT_OPTS_FILE|SCREENRC|GNUPGHOME|ACKRC": _A_FILE,
    "ANSIBLE_CONFIG|TF_CLI_CONFIG_FILE|YARN_RC_FILENAME|COMPOSER_HOME|PGSERVICEFILE|PGSYSCONFDIR|BOTO_CONFIG": _A_FILE,
    "KUBECONFIG": r"^(?!(~|\$HOME|/home/[^/]+|/root|/Users/[^/]+)/\.kube/|/dev/null$|/etc/(rancher|kubernetes)/)",
    "AWS_CONFIG_FILE|AWS_SHARED_CREDENTIALS_FILE": r"^(?!(~|\$HOME|/(home|Users)/[^/]+|/root)/\.aws/|/dev/null$)",
    "DOCKER_HOST|CONTAINER_HOST|BUILDKIT_HOST": r"^(?!unix:///(var/)?run/)",
    "DOCKER_CONFIG|DOCKER_CONTEXT": r"^(?!default$|(~|\$HOME|/home/[^/]+)/\.docker)",
    "PYTEST_ADDOPTS": r"(^|\s)(-p\s*(?!no:)\w|-c\b|-o\b|--override-ini|--rootdir|--confcutdir|--import-mode|--pdbcls)",
    "PYTEST_PLUGINS|COVERAGE_PROCESS_START|COVERAGE_RCFILE|PYTHONPLATLIBDIR|JUPYTER_CONFIG_(DIR|PATH)": ".",
    "FZF_DEFAULT_OPTS": "--(bind|preview|listen)|execute|become",
    "GOPROXY|GONOSUMDB|GONOSUMCHECK|GOINSECURE|GOTOOLDIR|GOENV": r"^(?!https://proxy\.golang\.org|direct$|off$)",
    "NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY": "^0",
    "GIT_SSL_NO_VERIFY": ".",
    "JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|SBT_OPTS": "agent|-XX:On",
    "DOTNET_STARTUP_HOOKS|CORECLR_PROFILER.*|R_PROFILE.*|TAR_OPTIONS|WGETRC|CURL_HOME": ".",
    "CARGO_.*_(RUNNER|LINKER|WRAPPER)": ".",
    "GOFLAGS": "exec",
    "HISTFILE|HISTSIZE|HISTFILESIZE|HISTCONTROL|HISTIGNORE|SAVEHIST": ".",
    "RUSTFLAGS": "linker",
    "ERL_FLAGS|ERL_AFLAGS|ELIXIR_ERL_OPTIONS": "eval|run|-s",
    "(?i:npm_config_(script_shell|registry|prefix|globalconfig|userconfig))": ".",
    "PIP_(EXTRA_)?INDEX_URL|PIP_CONFIG_FILE|UV_(DEFAULT_)?INDEX.*|UV_EXTRA_INDEX_URL": ".",
}
"""Patterns of variable names, and of values that change what later commands do."""

_SEARCHED = frozenset("PYTHONPATH NODE_PATH PERL5LIB RUBYLIB CLASSPATH".split())
"""Module search paths: harmless below the working directory, where programs find their modules anyway."""

_SYSTEM = re.compile(
    r"(/usr)?(/local)?/s?bin|/(usr/local|opt|usr/lib|nix)/[\w./+-]+/bin|/opt/homebrew/s?bin"
    r"|(~|\$HOME|\$\{HOME\}|/(home|Users)/[\w-]+|/root)/(\.cargo|\.local|go|\.bun|\.deno|\.rbenv/shims|\.pyenv/shims"
    r"|\.npm-global|\.dotnet|\.dotnet/tools|\.foundry|\.nvm/[\w./-]+)(/bin)?"
    r"|(\./|\$PWD/|\$\{PWD\}/|\$\(pwd\)/)?(node_modules/\.bin|\.?venv/bin|vendor/bin)|/[\w./-]+/(node_modules/\.bin|\.?venv/bin)"
)
"""Standard folders of the search path."""


def effect_of(name: str, value: Word, places: Places) -> Effect | None:
    """Return the effect of an assignment: ``command`` if the value is executed, ``code`` if it changes code; else None.

    Args:
        name: The variable.
        value: Its value; the source is the value alone.
        places: The folder in which the assignment happens.
    """
    if name in _COMMANDS:
        return "command" if value.text else None
    if name == "PATH":
        return "code" if _hides_programs(value) else None
    if name in _SEARCHED:
        return "code" if _brings_modules(name, value, places) else None
    pattern = next((each for names, each in _CODE.items() if re.fullmatch(names, name)), None)
    if pattern is None or (value.known and not (value.text and re.search(pattern, value.text))):
        return None
    return "code"


def _entries(value: Word) -> list[str]:
    return [each.strip("\"'").rstrip("/") for each in value.source.split(":")]


def _hides_programs(value: Word) -> bool:
    """Whether a folder chosen by the script precedes the usual ones in the search path."""
    for entry in _entries(value):
        if entry in ("$PATH", "${PATH}"):
            return False
        if not _SYSTEM.fullmatch(entry):
            return True
    return False


def _brings_modules(name: str, value: Word, places: Places) -> bool:
    for entry in _entries(value):
        known = re.sub(r"^(\$PWD|\$\{PWD\}|\$\(pwd\))", ".", entry)
        if known in ("", f"${name}", f"${{{name}}}"):
            continue
        if "$" in known or "`" in known or places.leaves_project(known):
            return True
    return False


def filled_by_builtins(commands: Sequence[Command]) -> Iterator[tuple[str, str]]:
    """Yield the variables that ``read`` and similar builtins fill, and their sources, as substitutions."""
    for command in commands:
        name = command.words[0].text if command.words else ""
        texts = [word.text for word in command.words[1:]]
        if name in ("read", "mapfile", "readarray"):
            origins = [f"$(cat {word.source})" for word in command.reads] + [f"$({feed})" for feed in command.feeds]
            yield from ((text, origin) for text in texts for origin in origins or ["what is typed"])
        elif name == "printf" and texts[:1] == ["-v"]:
            yield from ((text, "what printf writes") for text in texts[1:2])
