"""The real ``pi`` in a process of its own, with plugins that a test writes into a folder of its own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
from functools import cache, partial
from textwrap import dedent
from typing import TYPE_CHECKING

import pyte
import pytest

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEPT = {"LANG", "LC_ALL", "PATH", "PYTHONPYCACHEPREFIX", "SYSTEMROOT", "TERM", "TMPDIR", "VIRTUAL_ENV"}
"""Of the environment; keys of providers, above all, must not decide which model answers in a test."""

FAKE_PROVIDER = '''
import json

from pi_hookspecs import ImageContent, MessageBuilder, Model, ProviderInfo, Usage, hookimpl


class Fake:
    """Answers as its models are named."""

    api = "fake"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        said = context.messages[-1]
        yield builder.start()
        if model.id == "tools" and said.role == "user":
            for event in text(builder, "I will look. ", "Now.\\n\\n"):
                yield event
            for number, (name, arguments) in enumerate(json.loads(said.text)):
                start = builder.tool_call_start(f"call-{number}", name)
                yield start
                yield builder.tool_call(start.content_index, json.dumps(arguments))
                yield builder.tool_call_end(start.content_index)
        elif model.id == "tools":
            results = [each.text for each in context.messages if each.role == "toolResult"]
            for event in text(builder, "\\n\\n", "Seen: ", json.dumps(results)):
                yield event
        elif model.id == "wait":
            start = builder.text_start()
            yield start
            yield builder.text(start.content_index, "waiting")
            await options.signal.wait()
            yield builder.abort()
            return
        elif model.id == "fail":
            for event in text(builder, "half an answer"):
                yield event
            yield builder.fail("400 the request\\nis wrong")
            return
        elif model.id == "silent":
            pass
        elif model.id in ("cut", "thinks"):
            start = builder.thinking_start()
            yield start
            yield builder.thinking(start.content_index, "hm")
            yield builder.thinking_end(start.content_index)
            for event in text(builder, *(() if said.text == "think" else ["half an answer"])):
                yield event
            builder.usage = Usage(output=model.max_tokens)
            yield builder.done("length" if model.id == "cut" else "stop")
            return
        else:
            images = [each.mime_type for each in said.content if isinstance(each, ImageContent)]
            for event in text(builder, said.text, *images):
                yield event
        yield builder.done()


def text(builder, *pieces):
    start = builder.text_start()
    yield start
    for piece in pieces:
        yield builder.text(start.content_index, piece)
    yield builder.text_end(start.content_index)


@hookimpl
def register_providers():
    return [Fake()]


@hookimpl
def register_models():
    names = ("echo", "tools", "wait", "fail", "cut", "thinks")
    models = [Model(id=id, name=id, api="fake", provider="fake") for id in names]
    return [ProviderInfo(id="fake", name="Fake", api="fake", keyless=True, models=tuple(models))]
'''


class Pi:
    """Runs ``pi`` in ``cwd``, with the plugins of some folders in addition to the installed ones."""

    def __init__(self, folder: Path, sites: tuple[Path, ...] = ()) -> None:
        self.cwd = folder / "work"
        self.site = folder / "site"
        self.agent_dir = folder / "agent"
        for each in (self.cwd, self.site, self.agent_dir):
            each.mkdir()
        kept = {name: value for name, value in os.environ.items() if name in KEPT}
        self.env = {
            **kept,
            "HOME": str(folder),
            "NO_COLOR": "",
            "PI_CODING_AGENT_DIR": str(self.agent_dir),
            "PYTHONPATH": os.pathsep.join(map(str, sites)),
            "PYTHONUTF8": "1",
        }
        self.command = [sys.executable, "-P", "-m", "pi_cli"]

    def install(self, name: str, source: str, version: str = "0.1.0") -> None:
        """Install a plugin as pip would: a module, and the metadata that names it."""
        paths = self.env["PYTHONPATH"].split(os.pathsep)
        if str(self.site) not in paths:
            self.env["PYTHONPATH"] = os.pathsep.join([str(self.site), *filter(None, paths)])
        write_plugin(self.site, name, source, version)

    def run(self, *arguments: str, stdin: str | bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
        """Run to the end, with stdin from a pipe."""
        done = subprocess.run(
            [*self.command, *arguments],
            cwd=self.cwd,
            env={**self.env, **env},
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err or "--verbose" in arguments, err
        return subprocess.CompletedProcess(arguments, done.returncode, out, err)

    def start(self, *arguments: str, **streams: object) -> subprocess.Popen[bytes]:
        """Start without waiting; stdin is empty unless the test says otherwise."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.Popen([*self.command, *arguments], cwd=self.cwd, env=self.env, **streams)


def write_plugin(site: Path, name: str, source: str, version: str = "0.1.0") -> None:
    module = name.replace("-", "_")
    (site / f"{module}.py").write_text(dedent(source))
    metadata = site / f"{module}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{name}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(f"[pi]\n{name} = {module}\n")


@pytest.fixture(scope="session")
def fake_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with provider ``fake``."""
    site = tmp_path_factory.mktemp("fake-site")
    write_plugin(site, "fake", FAKE_PROVIDER)
    return site


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory, fake_site: Path) -> Path:
    """The index of what is installed, with and without ``fake``: most tests begin like a second run."""
    first = Pi(tmp_path_factory.mktemp("first-run"))
    assert first.run("plugins").returncode == 0
    assert first.run("plugins", PYTHONPATH=str(fake_site)).returncode == 0
    return first.agent_dir / "cache"


@pytest.fixture
def pi(tmp_path: Path, warm_cache: Path) -> Pi:
    """``pi`` with the plugins that are installed with it."""
    pi = Pi(tmp_path)
    shutil.copytree(warm_cache, pi.agent_dir / "cache")
    return pi


@pytest.fixture
def fake(tmp_path: Path, warm_cache: Path, fake_site: Path) -> Pi:
    """``pi`` with provider ``fake``: its models ``echo``, ``tools``, ``wait`` and ``fail`` do as they are named."""
    pi = Pi(tmp_path, (fake_site,))
    shutil.copytree(warm_cache, pi.agent_dir / "cache")
    return pi


@pytest.fixture(scope="session")
def known_site(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], tuple[Path, Path]]:
    """``known_site(name, source)``: a folder with a plugin and the index of who has looked into it, made once."""

    @cache
    def made(name: str, source: str) -> tuple[Path, Path]:
        site = tmp_path_factory.mktemp(f"{name}-site")
        write_plugin(site, name, source)
        first = Pi(tmp_path_factory.mktemp("first-run"), (site,))
        assert first.run("plugins").returncode == 0
        return site, first.agent_dir / "cache"

    return made


@pytest.fixture
def knows(pi: Pi, known_site: Callable[[str, str], tuple[Path, Path]]) -> Callable[[str, str], None]:
    """``knows(name, source)`` installs a plugin that the index of ``pi`` knows; it must not be changed."""

    def know(name: str, source: str) -> None:
        pi.site, index = known_site(name, source)
        pi.env["PYTHONPATH"] = str(pi.site)
        shutil.copytree(index, pi.agent_dir / "cache", dirs_exist_ok=True)

    return know


def ask_for_the_line(pi):
    """Set ``tuiMode``, unless the test has settings that say it, or that cannot be read."""
    file = pi.agent_dir / "settings.json"
    try:
        settings = json.loads(file.read_text()) if file.exists() else {}
    except ValueError:
        return
    file.write_text(json.dumps({"tuiMode": "regular", **settings}))


class Terminal:
    """A terminal of 60 columns with one process in it; without arguments about it, the line mode."""

    def __init__(self, pi, *arguments, script='exec "$@"', size=(60, 24), line=True):
        if line:
            ask_for_the_line(pi)
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        # The first terminal that a new session opens becomes its own: Ctrl-C goes to its foreground process.
        command = ["sh", "-c", f": <{os.ttyname(slave)}; {script}", "sh", *pi.command, *arguments]
        streams = {"stdin": slave, "stdout": slave, "stderr": slave}
        self.process = subprocess.Popen(command, cwd=pi.cwd, env=pi.env, start_new_session=True, **streams)
        os.close(slave)
        self._seen = b""

    def until(self, expected):
        """Return what is shown up to a text."""
        while expected.encode() not in self._seen:
            piece = self._read()
            assert piece, f"{expected!r} does not come after {self._seen!r}"
            self._seen += piece
        return self._seen.decode().replace("\r\n", "\n")

    def end(self):
        """Return all that is shown, and the exit code."""
        while piece := self._read():
            self._seen += piece
        return self._seen.decode().replace("\r\n", "\n"), self.process.wait(timeout=PATIENCE)

    def type(self, text):
        os.write(self.master, text.encode())

    def _read(self):
        ready, _, _ = select.select([self.master], [], [], PATIENCE)
        assert ready, f"nothing more comes after {self._seen!r}"
        try:
            return os.read(self.master, 4096)
        except OSError:  # the last process has closed it
            return b""


class Screen(Terminal):
    """A terminal that can move its cursor: what is on it, and what has left it at the top, is what the user sees."""

    def __init__(self, pi, *arguments, size=(80, 30), term="xterm-256color", line=True, **env):
        script = f'TERM={term} {" ".join(f"{name}={value!r}" for name, value in env.items())} exec "$@"'
        super().__init__(pi, *arguments, script=script, size=size, line=line)
        self.screen = pyte.HistoryScreen(*size, history=10_000)
        self._stream = pyte.ByteStream(self.screen)

    @property
    def contents(self):
        """The rows, without space at their ends and empty rows at the end."""
        left = ["".join(row[column].data for column in range(self.screen.columns)) for row in self.screen.history.top]
        return "\n".join(row.rstrip() for row in [*left, *self.screen.display]).rstrip("\n")

    @property
    def seen(self):
        """What has reached the terminal, byte by byte."""
        return self._seen

    def sees(self, *expected):
        """Return the rows as soon as every one of these texts is in them."""
        return self.when(lambda output: all(each in output for each in expected), expected)

    def ends_with(self, row):
        """Return the rows as soon as this is the last one: the line, with what is typed on it."""
        return self.when(lambda output: output.rpartition("\n")[2] == row, row)

    def is_cooked(self):
        """Whether the terminal edits lines itself, as a shell finds it."""
        return bool(termios.tcgetattr(self.master)[3] & termios.ICANON)

    def when(self, condition, what="it"):
        """Return the rows as soon as a condition holds for them."""
        while not condition(self.contents):
            piece = self._read()
            assert piece, f"{what!r} does not come after\n{self.contents}"
            self._seen += piece
            self._stream.feed(piece)
        return self.contents


@pytest.fixture
def at_terminal():
    started = []

    def start(*arguments, kind=Terminal, **how):
        started.append(kind(*arguments, **how))
        return started[-1]

    yield start
    for terminal in started:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)


@pytest.fixture
def on_screen(at_terminal):
    """``on_screen(pi, ...)`` starts it on a ``Screen``."""
    return partial(at_terminal, kind=Screen)
