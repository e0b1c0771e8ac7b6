"""Programs that start the program named in their arguments, such as ``sudo``, ``env``, ``xargs`` and ``uv run``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from pi_guardrails.words import UNKNOWN, Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["READ_BY_XARGS", "Wrapper", "commands_of_fd", "commands_of_find", "inner_commands", "texts_of", "wrapper_of"]

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


@frozen
class Wrapper:
    """How a program's own arguments end and the inner command begins.

    Attributes:
        flags: Letters of its options without a value.
        values: Letters of its options with one.
        long: Long options that are followed by a value; if ``closed``, all others are flags.
        closed: Whether every long option is a flag or named in ``long``.
        subcommand: The word, or the words, that come before its own options: ``run`` of ``uv run``.
        operands: How many arguments come before the command.
        assigns: Whether ``NAME=value`` may come before it.
        adds: Whether it appends unknown arguments.
        text: Whether the remaining arguments form a script for a shell.
        dashes: Whether the command follows only after ``--``.
    """

    flags: str = ""
    values: str = ""
    long: str = ""
    closed: bool = False
    subcommand: str = ""
    operands: int = 0
    assigns: bool = False
    adds: bool = False
    text: bool = False
    dashes: bool = False


READ_BY_XARGS = "what it reads"
"""The source of an argument that ``xargs`` takes from its input."""

_PLAIN = Wrapper()
_UV = Wrapper(
    flags="qvnsU",
    values="pP",
    long="--with --with-editable --with-requirements --python --project --directory --extra --group --only-group "
    "--env-file --package --index --index-url --extra-index-url --default-index --from --config-file --cache-dir "
    "--no-group --no-extra --color --allow-insecure-host --find-links --link-mode --resolution --prerelease",
    closed=True,
)
_RUN = Wrapper(closed=True, long="--project --directory -C -P -p -E --env --python --package --filter --name --prefix")
_CONTAINER = Wrapper(
    flags="itdT", values="euwn", long="--env --env-file --user --workdir --detach-keys --index", closed=True, operands=1
)

_WRAPPERS: dict[str, Wrapper] = {
    "busybox": _PLAIN,
    "builtin": _PLAIN,
    "caffeinate": Wrapper(flags="dimsu", values="tw"),
    "chroot": Wrapper(operands=1),
    "chrt": Wrapper(flags="abfiormv", values="TPD", operands=1),
    "command": Wrapper(flags="pvV"),
    "coproc": _PLAIN,
    "cpulimit": Wrapper(flags="zibv", values="lpec"),
    "cross-env": Wrapper(assigns=True),
    "cross-env-shell": Wrapper(assigns=True, text=True),
    "doas": Wrapper(flags="nsL", values="uC"),
    "entr": Wrapper(flags="acdnprxz", values="s"),
    "env": Wrapper(flags="i0v", values="uC", assigns=True, long="--unset --chdir", closed=True),
    "exec": Wrapper(flags="cl", values="a"),
    "faketime": Wrapper(operands=1),
    "flock": Wrapper(flags="sxnoFe", values="wE", operands=1),
    "gosu": Wrapper(operands=1),
    "ionice": Wrapper(flags="t", values="cnp"),
    "ltrace": Wrapper(flags="fcSCirtT", values="eopuns"),
    "nice": Wrapper(flags="0123456789", values="n"),
    "nsenter": Wrapper(flags="aF", values="tSG"),
    "runuser": Wrapper(flags="lm", values="ug"),
    "setsid": Wrapper(flags="cfw"),
    "sshpass": Wrapper(flags="vhV", values="pfdeP"),
    "stdbuf": Wrapper(values="ioe"),
    "strace": Wrapper(flags="fcqtTvxyCi", values="eopsauPSbIOE"),
    "su-exec": Wrapper(operands=1),
    "sudo": Wrapper(
        flags="AbEHnPSkKisB", values="ughpCrtTUDR", assigns=True, long="--user --group --chdir --host", closed=True
    ),
    "taskset": Wrapper(flags="ac", values="p", operands=1),
    "time": Wrapper(flags="pvaq", values="fo"),
    "timeout": Wrapper(flags="fpv", values="ks", operands=1, long="--signal --kill-after", closed=True),
    "unshare": Wrapper(flags="imnpuUCTfrc"),
    "watch": Wrapper(flags="bcdegtxpw", values="n", text=True),
    "xargs": Wrapper(flags="0rtpxoi", values="ILnPdEsaJRS", adds=True),
    "xvfb-run": Wrapper(flags="al", values="efnpsw"),
    **dict.fromkeys(
        "start-stop-daemon ccache chronic catchsegv dbus-launch distcc ifne lckdo nq onchange sccache systemd-cat ts "
        "tsp zrun dbus-run-session dumb-init eatmydata fakeroot firejail bwrap gtime linux32 linux64 "
        "nocache nohup numactl pkexec prlimit proot proxychains4 setarch setpriv systemd-inhibit tini toybox torsocks "
        "unbuffer valgrind winpty".split(),
        _PLAIN,
    ),
}

_SUBCOMMANDS: dict[str, tuple[Wrapper, ...]] = {
    "adb": (Wrapper(subcommand="shell", text=True, values="e", flags="xTtn"),),
    "aws-vault": (Wrapper(subcommand="exec", operands=1),),
    "bun": (evolve(_RUN, subcommand="x"),),
    "bundle": (evolve(_RUN, subcommand="exec"),),
    "conda": (Wrapper(subcommand="run", values="np", flags="v", long="--name --prefix --cwd", closed=True),),
    "dapr": (Wrapper(subcommand="run", dashes=True),),
    "direnv": (Wrapper(subcommand="exec", operands=1),),
    "docker": (
        evolve(_CONTAINER, subcommand="exec"),
        evolve(_CONTAINER, subcommand="compose exec"),
        evolve(_CONTAINER, subcommand="compose run", flags="dTitP", values="euwvlp", long=f"{_CONTAINER.long} --name"),
    ),
    "docker-compose": (evolve(_CONTAINER, subcommand="exec"),),
    "doppler": (Wrapper(subcommand="run", dashes=True),),
    "dotenv": (evolve(_RUN, values="fe", subcommand="run"), Wrapper(values="ecpv", dashes=True)),
    "dotenvx": (evolve(_RUN, values="f", subcommand="run"),),
    "hatch": (evolve(_RUN, subcommand="run"), evolve(_RUN, subcommand="env run")),
    "kubectl": (Wrapper(subcommand="exec", dashes=True),),
    "micromamba": (Wrapper(subcommand="run", values="np"),),
    "mise": (Wrapper(subcommand="exec", dashes=True), Wrapper(subcommand="x", dashes=True)),
    "npm": tuple(evolve(_RUN, subcommand=each) for each in ("exec", "x")),
    "op": (Wrapper(subcommand="run", dashes=True),),
    "perf": tuple(Wrapper(subcommand=each, flags="agd", values="eFopr") for each in ("stat", "record", "trace")),
    "pdm": (evolve(_RUN, subcommand="run"),),
    "pipenv": (evolve(_RUN, subcommand="run"),),
    "pipx": (evolve(_RUN, subcommand="run", long="--spec --python --pip-args --index-url"),),
    "pnpm": tuple(evolve(_RUN, subcommand=each) for each in ("exec", "dlx")),
    "podman": (evolve(_CONTAINER, subcommand="exec"),),
    "poetry": (evolve(_RUN, subcommand="run"),),
    "rye": (evolve(_RUN, subcommand="run"),),
    "sg": (Wrapper(operands=1, text=True),),
    "uv": (evolve(_UV, subcommand="run"), evolve(_UV, subcommand="tool run")),
    "yarn": tuple(evolve(_RUN, subcommand=each) for each in ("exec", "dlx")),
    **dict.fromkeys(("uvx",), (_UV,)),
    **dict.fromkeys(
        ("npx", "pnpx", "bunx"),
        (Wrapper(flags="yq", values="pw", long="--package --workspace --prefix", closed=True),),
    ),
}
"""Programs that start others through a subcommand."""

_TEXTS = {
    "mispipe": "",
    "pee": "",
    "stmux": "",
    "concurrently": "-n --names -c --prefix-colors -p --prefix -m --max-processes --restart-tries --restart-after",
    "hyperfine": "-w --warmup -m --min-runs -M --max-runs -r --runs -S --shell -u --time-unit -P -L -D --style -N"
    " --export-json --export-markdown --export-csv --parameter-list --parameter-scan --command-name -n",
}
"""Programs whose operands are shell scripts, and their options that take a value."""

_TEXT_OPTIONS = {
    "asciinema": ("rec", "-c --command"),
    "air": ("", "--build.cmd --build.bin --build.full_bin -build.cmd -build.bin"),
    "cargo": ("watch", "-s --shell"),
    "chokidar": ("", "-c --command"),
    "cargo-watch": ("", "-s --shell"),
    "dotenv": ("", "-c"),
    "flock": ("", "-c --command"),
    "git": ("filter-branch", "--tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter"),
    "gow": ("", "-c"),
    "inotify-hookable": ("", "-c --on-modify-command"),
    "livereload": ("", "-t --target"),
    "nodemon": ("", "-x --exec"),
    "onchange": ("", "-c"),
    "sem": ("", "-c"),
    "tsc-watch": ("", "--onSuccess --onFailure --onFirstSuccess --onCompilationStarted --onCompilationComplete"),
    "tsup": ("", "--onSuccess"),
    "watchmedo": ("shell-command", "-c --command"),
    "wait-on": ("", "--exec"),
    "xonsh": ("", "-c"),
}
"""Programs with a subcommand, or none, and their options whose value is a shell script."""


def wrapper_of(name: str, arguments: Sequence[Word]) -> tuple[Wrapper, tuple[Word, ...]] | None:
    """Return how a program starts another one, and its arguments after the subcommand; None if it does not."""
    plain = _WRAPPERS.get(name)
    if plain is not None:
        return plain, tuple(arguments)
    for wrapper in _SUBCOMMANDS.get(name, ()):
        found = _after_subcommand(wrapper, arguments)
        if found is not None:
            return wrapper, found
    return None


def inner_commands(wrapper: Wrapper, arguments: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands that a wrapper may start: one, or every word after an unknown option.

    Each command is a list of words, name first; the name may be ``UNKNOWN``.
    """
    rest, certain = _after_options(wrapper, list(arguments))
    added: tuple[Word, ...] = (Word(UNKNOWN, READ_BY_XARGS, splits=True),) if wrapper.adds else ()
    replaced = _replaced(arguments[: len(arguments) - len(rest)]) if wrapper.adds else None
    if replaced is not None:
        arguments, added = [_without(replaced, word) for word in arguments], ()
    texts = [word.text for word in arguments]
    if wrapper.dashes and "--" in texts:
        yield tuple(arguments[texts.index("--") + 1 :])
        return
    certain = certain and not wrapper.dashes
    start = len(arguments) - len(rest) + wrapper.operands
    if start < len(arguments) and arguments[start].text == ("-c" if wrapper.text else "--"):
        start += 1
    if start < len(arguments):
        yield (*arguments[start:], *added)
    if not certain:
        yield from ((*arguments[place:], *added) for place in range(1, len(arguments)))


def texts_of(name: str, arguments: Sequence[Word]) -> list[str]:
    """Return the arguments that a program passes to a shell, now or later, each as a script."""
    texts = [word.text for word in arguments]
    if name == "npm" and texts[:2] == ["pkg", "set"]:
        return [text.partition("=")[2] for text in texts[2:] if text.startswith("scripts.")]
    needed, taking = _TEXT_OPTIONS.get(name, ("", ""))
    if taking:
        return list(_option_values(taking.split(), texts)) if texts[: len(needed.split())] == needed.split() else []
    options = _TEXTS.get(name)
    if options is None:
        return []
    pairs = zip(("", *texts), texts, strict=False)
    return [text for before, text in pairs if not text.startswith("-") and before not in options.split()]


def _option_values(options: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    for before, text in zip(("", *texts), texts, strict=False):
        name, equals, value = text.partition("=")
        if before in options:
            yield text
        elif equals and name in options:
            yield value
        else:
            for option in options:
                if len(option) == 2 and text.startswith(option) and text != option:  # noqa: PLR2004 - ``-cls``
                    yield text[2:]


def commands_of_find(arguments: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands that ``find`` starts for its matches; the file names are unknown."""
    rest = list(arguments)
    while rest:
        if rest.pop(0).text not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        inner: list[Word] = []
        while rest and rest[0].text not in (";", "+"):
            inner.append(_without("{}", rest.pop(0)))
        yield tuple(inner)


def commands_of_fd(arguments: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands that ``fd`` starts for its matches, which are appended if there is no placeholder."""
    rest = list(arguments)
    while rest:
        option, equals, value = rest.pop(0).text.partition("=")
        if not re.fullmatch(r"-[a-zA-Z]*[xX]|--exec|--exec-batch", option):
            continue
        inner = [Word(value)] if equals else []
        while rest and rest[0].text not in (";", "+"):
            inner.append(rest.pop(0))
        places = re.compile(r"\{(//?|\.|/\.)?\}")
        unclear = [Word(UNKNOWN, word.source) if places.search(word.text) else word for word in inner]
        yield tuple(unclear) if unclear != inner else (*inner, Word(UNKNOWN, "what it finds"))


def _after_subcommand(wrapper: Wrapper, arguments: Sequence[Word]) -> tuple[Word, ...] | None:
    """Return the arguments after a wrapper's subcommand, skipping options before it."""
    wanted = wrapper.subcommand.split()
    for place, word in enumerate(arguments):
        if not wanted:
            return tuple(arguments[place:])
        if word.text == wanted[0]:
            wanted = wanted[1:]
        elif not word.text.startswith("-") and (not place or not arguments[place - 1].text.startswith("-")):
            return None
    return () if not wanted else None


def _replaced(options: Sequence[Word]) -> str | None:
    """Return the placeholder that ``xargs`` replaces with its input; None if the input is appended."""
    found = None
    for place, word in enumerate(options):
        match = re.fullmatch(r"-[0rtpxo]*([IJi])(.*)|--replace(=(.*))?", word.text, re.DOTALL)
        if match is None:
            continue
        found = match[2] or match[4] or "{}"
        if match[1] in ("I", "J") and not match[2] and place + 1 < len(options):
            found = options[place + 1].text
    return found


def _without(replaced: str, word: Word) -> Word:
    """Return a word in which a text is replaced by ``UNKNOWN``."""
    if UNKNOWN in replaced:
        return Word(UNKNOWN, word.source)
    return Word(word.text.replace(replaced, UNKNOWN), word.source) if replaced in word.text else word


def _after_options(wrapper: Wrapper, rest: list[Word]) -> tuple[list[Word], bool]:
    """Return the arguments from the inner command on, and whether all options before it are known."""
    certain = True
    while rest:
        text = rest[0].text
        if wrapper.assigns and _ASSIGNMENT.match(text):
            rest.pop(0)
        elif text.startswith("-") and text not in ("-", "--"):
            count, known = _option(wrapper, text)
            del rest[:count]
            certain = certain and known
        else:
            break
    while rest and (rest[0].text == "--" or (wrapper.assigns and _ASSIGNMENT.match(rest[0].text))):
        rest.pop(0)
    return rest, certain


def _option(wrapper: Wrapper, text: str) -> tuple[int, bool]:
    """Return how many arguments an option takes up, including its value, and whether that is certain."""
    long = wrapper.long.split()
    if text.startswith("--"):
        takes = any(option.startswith(text) for option in long)  # a beginning will do
        return 1 + takes, wrapper.closed or "=" in text
    if text in long:
        return 2, True
    letters = text[1:].lstrip(wrapper.flags)
    if letters and letters[0] not in wrapper.values:
        return 1, False
    return 1 + (len(letters) == 1), True
