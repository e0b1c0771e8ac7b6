"""Judges a shell command by what it would run, including wrappers, nested shells and text that becomes a script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import evolve

from pi_guardrails import git as git_rules
from pi_guardrails.call import Call
from pi_guardrails.databases import SQL_CLIENTS, sql_danger
from pi_guardrails.emptying import emptied_by, is_emptying
from pi_guardrails.files import READERS, files_of, written_files
from pi_guardrails.ground import Ground
from pi_guardrails.names import with_usual_name
from pi_guardrails.network import says_nothing
from pi_guardrails.options import can_start_programs, starts_program
from pi_guardrails.programs import judge_program
from pi_guardrails.script import Command, read_script
from pi_guardrails.shells import INTERPRETERS, SHELLS, after_shell_options, interpreter, only_parses, started
from pi_guardrails.trail import DOWNLOADERS, Trail, printed
from pi_guardrails.variables import ASSIGNMENT, combined, effect_of, filled_by_builtins, listed_paths
from pi_guardrails.words import UNKNOWN, Word, has_index_that_runs, is_stdin, joined
from pi_guardrails.wrappers import commands_of_fd, commands_of_find, inner_commands, texts_of, wrapper_of

if TYPE_CHECKING:
    from pi_guardrails.findings import Finding
    from pi_guardrails.paths import Places
    from pi_guardrails.script import Script
    from pi_guardrails.trail import Reader
    from pi_guardrails.wrappers import Wrapper

__all__ = ["judge_command"]

_DEEPEST = 6
_MOST_ARGUMENTS = 500
_MOST_STARTED = 3
MOST_STEPS = 2500
"""A step is a word of a command in one of the folders that it may run in, or 50 characters of a script."""

_PRIVILEGED = frozenset("sudo doas su pkexec runuser chroot nsenter setpriv gosu su-exec sg".split())
_STARTED = frozenset(
    {*SHELLS, *_PRIVILEGED, *INTERPRETERS}
    | set(
        "chmod chown crontab curl dd docker env eval find git kill kubectl mkfs mv pkill rm shred truncate unlink wget "
        "wipefs xargs".split()
    )
)
"""Programs that are searched for among the arguments of programs that may start others."""

_ASSIGNS = frozenset("env sudo doas make gmake export declare typeset readonly local cross-env".split())
_MODULES = {
    name: name
    for name in ("pip", "pipx", "uv", "http.server", "twine", "venv", "virtualenv", "alembic", "flask", "keyring")
} | {"pi_cli": "pi", "django": "manage.py", "aider": "aider", "openhands": "openhands", "kimi_cli": "kimi"}
"""Modules after Python's ``-m`` that are judged like the program of that name."""

_CODE_MODULES = {"timeit": "", "pdb": "-c", "IPython": "-c", "code": ""}
"""Modules that execute one of their arguments as code: always, or after an option."""


def judge_command(text: str, places: Places) -> list[Finding]:
    """Return all findings about a shell command; empty for text without a command. Never raises because of the text."""
    judge = Judge(places)
    judge.script(text, 0)
    judge.finish()
    return list(dict.fromkeys(judge.ground.findings))


class Judge:
    """The state while the commands of a script are judged.

    Attributes:
        ground: Where the commands run, and the findings.
        steps: How much has been examined.
    """

    def __init__(self, places: Places) -> None:
        self.ground = Ground(places)
        self.steps = 0
        self._add = self.ground.add
        self._variables = {"IFS": " \t\n", "HOME": places.home}
        self._values: dict[str, list[str]] = {}
        self._lists: dict[str, list[str]] = {}
        self._trail = Trail()

    def script(self, text: str, depth: int, shell: Command | None = None) -> None:
        """Judge a script that is nested ``depth`` levels inside the first one and inherits its input."""
        if depth > _DEEPEST:
            self._add("ask", "unparsed", "commands are nested too deeply to follow")
            return
        if not self._spend(len(text) // 50):
            return
        script = read_script(text, self._variables)
        for problem in dict.fromkeys(script.problems):
            self._add("ask", "unparsed", problem)
        for bomb in script.bombs:
            self._add("deny", "fork-bomb", f"a function that calls itself endlessly: {bomb[:40]}")
        self._evaluated(script)
        self._assigned(script, depth)
        self.ground.follow(script)
        self._statements(script, depth, shell)
        self._databases(script)
        for guess in combined(script.guesses):
            if self._spend(len(text) // 50 + 1):
                self._statements(read_script(text, self._variables, guess), depth, shell)

    def _assigned(self, script: Script, depth: int) -> None:
        """Judge the variables that a script assigns, and remember their values."""
        for name, value in script.assignments:
            self._values.setdefault(name, []).append(value.source)
            self._variable(name, value, depth)
        for name, origin in script.origins:
            self._lists.setdefault(name, []).append(origin)
        for name, origin in (*script.origins, *filled_by_builtins(script.commands)):
            self._values.setdefault(name, []).append(origin)
            self._variable(name, Word(UNKNOWN, origin), depth)

    def _statements(self, script: Script, depth: int, shell: Command | None) -> None:
        for redirect in script.redirects:
            self.ground.redirect(redirect)
            for base in self.ground.bases:
                if is_emptying(redirect):
                    self.ground.empty(redirect.target, base)
                self._trail.redirect(redirect, base)
        callers = [each for each in script.commands if each.words and each.words[0].text in script.functions]
        shells = [each for each in script.commands if [word.text for word in each.words] == ["exec"]]
        for command in script.commands:
            for caller in (*(callers if command.is_called else ()), *shells, *((shell,) if shell is not None else ())):
                command = command.reading_like(caller)  # noqa: PLW2901 - the first that reads something counts
            self.command(command, depth)

    def command(self, command: Command, depth: int) -> None:
        """Judge a program with its arguments."""
        if not command.words or not self._spend(len(command.words) * len(self.ground.bases)):
            return
        if depth > _DEEPEST or len(command.words) > _MOST_ARGUMENTS:
            self._add("ask", "unparsed", f"it has more than {_MOST_ARGUMENTS} words, or commands are nested too deeply")
            return
        first, arguments = command.words[0], command.words[1:]
        text = joined(command.words)
        name = first.text.rsplit("/", 1)[-1].lower()  # some file systems take RM for rm
        if first.source[:1] == "(" and first.source[-1:] == ")" and len(command.words) == 1:  # after ``time``
            self._text(first.source[1:-1], depth, text, command)
            return
        if not first.known or first.globs or not name or " " in name:
            self._unclear_program(command, depth, text)
            return
        self._add("allow", "known", "no rule objects to it", text)
        self._program_itself(first.text, command, text)
        name, words = with_usual_name(command.words, name.removesuffix(".exe"))
        command, arguments = evolve(command, words=words), words[1:]
        for base in self.ground.bases:
            call = Call(name=name, arguments=arguments, places=base, command=command, values=self._values)
            for verdict, rule, why in judge_program(call):
                self._add(verdict, rule, why, text)
            for word, how in files_of(call):
                self.ground.file_in(word, how, base)
            for word in emptied_by(call):
                self.ground.empty(word, base, text)
            self._trail.follow(call, text)
        self._options(name, arguments, text)
        self._code(name, command, depth, text)

    def _unclear_program(self, command: Command, depth: int, text: str) -> None:
        """Judge a program whose name is not written out: each file of a loop over the project's own, or a question."""
        first, *arguments = command.words
        paths = [] if first.known else self._project_paths(first)
        for path in paths:
            self.command(evolve(command, words=(Word(path), *arguments)), depth)
        if not paths:
            self._add("ask", "dynamic-command", f"the program {first.source!r} is known only at run time", text)

    def _program_itself(self, path: str, command: Command, text: str) -> None:
        """Judge what a program's path says: a file that the same line may write, or a script of a service."""
        if path == "-" and command.has_input:  # after ``uv run``
            self._add("ask", "inline-code", "it runs code from its input, which is not analysed", text)
        if path.startswith("/etc/init.d/"):
            self._add("ask", "system", "it starts or stops a system service", text)
        if "/" in path:
            self._runs_file(command.words[0], text, None)

    def finish(self) -> None:
        """Judge what is known only at the end: files that the script both creates and runs."""
        for text in self._trail.unseen():
            self._add("ask", "remote-code", "it runs a download that has not been reviewed", text)
        for text in self._trail.rules():
            self._add("ask", "inline-code", "it follows rules that it writes itself, which are not analysed", text)
        for run, script in self._trail.scripts():
            if script is None:
                self._add("ask", "dynamic-command", "it runs a file that another command writes", run.command)
            elif run.reader == "shell":
                self._text(script, 1, run.command)
            else:
                why = "it runs code that it writes itself, in a language that is not analysed"
                self._add("ask", "inline-code", why, run.command)
        if self._trail.pushes_elsewhere:
            self._add("ask", "exfiltration", "it sends the history to an address that the same line sets")

    def _spend(self, steps: int) -> bool:
        """Whether this much more may be analysed while the agent waits; if not, the user is asked."""
        if self.steps + steps < MOST_STEPS:
            self.steps += steps
            return True
        self.steps = MOST_STEPS  # nothing more fits, however small it is
        self._add("ask", "unparsed", "it has too many commands to analyse")
        return False

    # Programs that run others

    def _code(self, name: str, command: Command, depth: int, text: str) -> None:
        arguments = command.words[1:]
        if name in _PRIVILEGED and not (name == "sudo" and _is_about_itself(arguments)):
            self._add("ask", "privileges", f"{name} runs it with another user's rights", text)
        wrapped = wrapper_of(name, arguments)
        if wrapped is not None:
            self._wrapped(name, *wrapped, command, depth)
        elif name in SHELLS or name == "su":
            self._shell(name, command, depth, text)
        else:
            self._runs_text(name, command, depth, text)
        for word in arguments if name in _ASSIGNS else ():
            assigned = ASSIGNMENT.fullmatch(word.text)
            if assigned is not None:
                self._variable(assigned[1], Word(assigned[2], word.source.partition("=")[2]), depth)

    def _options(self, name: str, arguments: tuple[Word, ...], text: str) -> None:
        """Judge the options of a program that can start another one, or write files."""
        called, rest = _subcommand(name, arguments)
        begun = starts_program(called, rest)
        unclear = next((word for word in rest if word.splits and not word.known and not self._is_plain(word)), None)
        if begun is not None:
            self._add("ask", "dynamic-command", f"{called} can start another program with {begun}", text)
        elif unclear is not None and can_start_programs(called):
            why = f"the options of {called} are known only at run time, because {unclear.source} is not quoted"
            self._add("ask", "dynamic-command", why, text)
        for word in written_files(called, rest) if called != name else ():
            self.ground.file(word, "overwritten")

    def _is_plain(self, word: Word) -> bool:
        """Whether what a word becomes is harmless as an option: numbers, versions, or names after other text."""
        names = re.findall(r"\$\{?(\w+)\}?", word.source)
        values = [value for name in names for value in self._values.get(name, ())] if names else [word.source]
        return bool(values) and all("(" in value and says_nothing(value) for value in values)

    def _variable(self, name: str, value: Word, depth: int) -> None:
        """Judge an assignment."""
        effect = effect_of(name, value, self.ground.bases[0])
        if effect == "code":
            self._add("ask", "environment", f"it sets {name}, which changes what later commands do")
        elif effect == "command":
            self._text(value.text, depth, f"{name}={value.source}")

    def _evaluated(self, script: Script) -> None:
        """Judge texts that arithmetic or an expansion executes as commands."""
        for prompt in script.prompts:
            self._add("ask", "dynamic-command", f"{prompt} runs the text in the variable")
        texts = [value.text for _, value in script.assignments]
        if script.calculates:
            texts += [word.text for command in script.commands for word in command.words]
            texts += [text for command in script.commands for text in command.stdin]
        if any(has_index_that_runs(text) for text in texts):
            self._add("ask", "dynamic-command", "the shell runs a command in the index of a variable")

    def _runs_text(self, name: str, command: Command, depth: int, text: str) -> None:
        arguments = command.words[1:]
        for script in texts_of(name, arguments):
            self._text(script, depth, text, command)
        if name == "eval":
            self._text(" ".join(word.text for word in arguments), depth, text, command)
        elif name in ("trap", "alias"):
            for word in arguments[:1] if name == "trap" else arguments:
                self._text(word.text.partition("=")[2] if name == "alias" else word.text, depth, text)
        elif name in ("find", "fd", "fdfind"):
            for words in (commands_of_find if name == "find" else commands_of_fd)(arguments):
                self.command(evolve(command, words=words), depth + 1)
        elif name == "shopt" and _turns_on_aliases(arguments):
            self._add("ask", "dynamic-command", "it turns on aliases, under which programs have other names", text)
        elif name in (".", "source") and arguments:
            self._sourced(arguments[0], command, depth, text)
        else:
            self._interpreter(interpreter(name), command, depth, text)
            if name != "git" and name not in READERS:
                self._started(command, depth)

    def _sourced(self, file: Word, command: Command, depth: int, text: str) -> None:
        """Judge a file that the shell sources."""
        if self._is_stdin(file):
            self._reads_script(".", command, depth, text)
        if not file.known or file.text.startswith("/dev/") or self._is_stdin(file):
            self._add("ask", "dynamic-command", "the script that it runs is known only at run time", text)
        else:
            self._runs_file(file, text, "shell")

    def _started(self, command: Command, depth: int) -> None:
        """Judge what may be started by a program that is not known as a wrapper: ``uv run rm -rf /``."""
        places = [
            place
            for place, word in enumerate(command.words)
            if place and word.text.rsplit("/", 1)[-1].lower() in _STARTED
        ]
        for place in places[:_MOST_STARTED]:
            self.command(evolve(command, words=command.words[place:]), depth + 1)

    def _wrapped(self, name: str, wrapper: Wrapper, arguments: tuple[Word, ...], command: Command, depth: int) -> None:
        """Judge what a wrapper starts; ``arguments`` are its own without its subcommand."""
        text = joined(command.words)
        if name == "command" and any(word.text in ("-v", "-V") for word in arguments[:1]):
            return
        if any(re.match(r"-\w*[Sc]|--split|--command", word.text) for word in arguments) and name in (
            "env",
            "flock",
            "unshare",
        ):
            self._add("ask", "dynamic-command", f"{name} splits a text to find its command", text)
        if name in ("env", "sudo"):
            self.ground.follow_options(arguments)
        if name == "sudo" and any(re.match(r"-\w*[is]|--(login|shell)", word.text) for word in arguments[:1]):
            self._shell("sh", evolve(command, words=(Word("sh"),)), depth + 1, text)
        for words in inner_commands(wrapper, arguments):
            if wrapper.text:
                self._text(" ".join(word.text for word in words), depth, text, command)
                continue
            piped = command.piped and name != "xargs"
            self.command(evolve(command, words=words, piped=piped), depth + 1)

    def _shell(self, name: str, command: Command, depth: int, text: str) -> None:
        """Judge what a shell runs: the text after ``-c``, a file, or else its standard input."""
        if only_parses(name, command.words[1:]):
            return
        rest, takes_text = after_shell_options(name, list(command.words[1:]))
        if not takes_text and rest and not rest[0].known and (paths := self._looped(rest[0])):
            for path in paths:
                self._runs_file(Word(path), text, "shell")
        elif takes_text or (rest and not rest[0].known and not self._is_stdin(rest[0])):
            self._text(rest[0].text if rest else UNKNOWN, depth, text, command)
        elif not rest or self._is_stdin(rest[0]):
            self._reads_script(name, command, depth, text)
        else:
            self._runs_file(rest[0], text, "shell")

    def _reads_script(self, name: str, command: Command, depth: int, text: str) -> None:
        for script in command.stdin:
            self._text(script, depth, text)
        for file in command.reads:
            if file.known and not self._is_stdin(file) and not file.text.startswith("/dev/tcp/"):
                self._runs_file(file, text, "shell")
            else:
                self._unseen(name, (file.source,), text)
        if command.piped:
            self._unseen(name, command.feeds, text)
            for written in self._printed(command.feeds):
                self._text(written, depth, text)

    def _unseen(self, name: str, feeds: tuple[str, ...], text: str) -> None:
        if any(DOWNLOADERS.search(each) for each in feeds):
            self._add("ask", "remote-code", f"{name} runs a download that has not been reviewed", text)
        else:
            self._add("ask", "dynamic-command", f"{name} runs what another command writes", text)

    def _printed(self, feeds: tuple[str, ...]) -> list[str]:
        """Return the text that is piped into a command, if the writing command contains it literally."""
        if len(feeds) != 1 or not self._spend(len(feeds[0]) // 50):
            return []
        commands = read_script(feeds[0], self._variables).commands
        found = printed(commands[0]) if len(commands) == 1 else None
        return [found] if found is not None else []

    def _text(self, script: str, depth: int, text: str, shell: Command | None = None) -> None:
        """Judge a text that becomes a script."""
        if UNKNOWN in script:
            self._add("ask", "dynamic-command", "part of the script that it runs is known only at run time", text)
        self.script(script.replace(UNKNOWN, '"$unknown"'), depth + 1, shell)

    def _interpreter(self, name: str | None, command: Command, depth: int, text: str) -> None:
        if name is None:
            return
        start = started(name, command.words[1:])
        texts = {word.text for word in start.rest}
        needed = _CODE_MODULES.get(start.module or "")
        is_code = needed is not None and not texts & {"-h", "--help"} and (not needed or needed in texts)
        fed = start.reads and (command.piped or command.stdin or any(not word.known for word in command.reads))
        module = start.module if start.module is None or not start.module.startswith("pi_cli.") else "pi_cli"
        if module in _MODULES:
            self.command(evolve(command, words=(Word(_MODULES[module]), *start.rest)), depth + 1)
        elif fed and any(
            DOWNLOADERS.search(each) for each in (*command.feeds, *(each.source for each in command.reads))
        ):
            self._unseen(name, ("curl",), text)
        elif start.inline or is_code or fed:
            self._add("ask", "inline-code", f"it runs code for {name}, which is not analysed", text)
        elif start.file is not None and not start.reads:
            self._runs_module(start.file, start.rest, command, depth, text)
        for word in command.reads if start.reads else ():
            self._runs_file(word, text, "interpreter")

    def _runs_module(self, file: Word, rest: tuple[Word, ...], command: Command, depth: int, text: str) -> None:
        """Judge a file that an interpreter runs; some are known by name, such as Django's ``manage.py``."""
        if not file.known and re.search(r"<\(|\$\(|`", file.source):
            self._add("ask", "dynamic-command", "the script that it runs is known only at run time", text)
            return
        self._runs_file(file, text, "interpreter")
        name = "pi" if "pi_cli/" in file.text else file.text.rsplit("/", 1)[-1]
        if name in ("manage.py", "artisan", "console", "setup.py", "pi"):
            self.command(evolve(command, words=(Word(name), *rest)), depth + 1)

    def _runs_file(self, file: Word, text: str, reader: Reader | None) -> None:
        for base in self.ground.bases:
            self._trail.run(base, file, text, reader)

    def _looped(self, word: Word) -> list[str]:
        """Return the paths that a word becomes in a loop over paths; empty if only the run shows what it becomes."""
        certain = {name: lists for name, lists in self._lists.items() if self._values.get(name) == lists}
        return [path for path in listed_paths(word.source, certain) if not is_stdin(Word(path))]

    def _project_paths(self, word: Word) -> list[str]:
        """Return the paths that the name of a program becomes in a loop over files of the project; else empty."""
        paths = self._looped(word)
        is_here = all("/" in path and not base.is_outside(path) for path in paths for base in self.ground.bases)
        return paths if is_here else []

    def _is_stdin(self, word: Word) -> bool:
        absolute = (Word(base.meanings(word.text)[0]) for base in self.ground.bases if ".." in word.text)
        return is_stdin(word) or any(is_stdin(each) for each in absolute)

    def _databases(self, script: Script) -> None:
        names = [
            command
            for command in script.commands
            if any(word.text.rsplit("/", 1)[-1] in SQL_CLIENTS for word in command.words)
        ]
        if not names:
            return
        for command in names:
            if command.piped and any(DOWNLOADERS.search(feed) for feed in command.feeds):
                self._add("ask", "remote-code", "it runs statements that have not been reviewed", joined(command.words))
        for command in script.commands:
            for text in (*(word.text for word in command.words), *command.stdin):
                if (why := sql_danger(text)) is not None:
                    self._add("ask", "database", f"it {why}", joined(command.words))


def _is_about_itself(arguments: tuple[Word, ...]) -> bool:
    return len(arguments) == 1 and arguments[0].text in ("-V", "--version", "-h", "--help", "-k", "-K")


def _turns_on_aliases(arguments: tuple[Word, ...]) -> bool:
    texts = [word.text for word in arguments]
    return "expand_aliases" in texts and any(re.match(r"-\w*s", text) for text in texts)


def _subcommand(name: str, arguments: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]]:
    """Return a program's name and arguments; of git and go, the subcommand is part of the name."""
    if name == "git":
        arguments = git_rules.without_options(arguments)
    elif name != "go":
        return name, arguments
    return f"{name} {arguments[0].text}" if arguments else name, arguments[1:]
