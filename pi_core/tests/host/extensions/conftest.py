"""Extensions written into a user's and a project's folder, and a session that loads them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pi_core import PluginHost, Settings, create_agent_session
from pi_core.host.extensions import LocalExtensions


class Folders:
    """Where extensions lie in a test."""

    def __init__(self, agent_dir, cwd):
        self.agent_dir = agent_dir
        self.cwd = cwd

    def write(self, path, code):
        """Write a file of the user (``todo.py``), or of the project (``.pi/extensions/todo.py``)."""
        file = self.cwd / path if path.startswith(".pi/") else self.agent_dir / "extensions" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(code.removeprefix("\n")))
        return file

    def host(self, *, settings=None, trust=False, disabled=(), **options):
        """A host with the extensions loaded, and no installed plugin."""
        read = Settings.in_memory(settings or {}, agent_dir=self.agent_dir, trust=trust)
        host = PluginHost(read, disabled=disabled, installed=False)
        LocalExtensions(host, cwd=self.cwd, **options).load()
        return host


@pytest.fixture
def folders(pi_agent_dir, tmp_path):
    return Folders(pi_agent_dir, tmp_path)


@pytest.fixture
async def start(folders, script, recorder):
    """Start a session of a host with extensions."""
    made = []

    async def start(host=None, **options):
        host = host or folders.host()
        session = create_agent_session(
            cwd=folders.cwd,
            settings=host.settings,
            host=host,
            plugins={"script": script},
            model=script.model,
            **options,
        )
        session.subscribe(recorder)
        made.append(session)
        await session.start()
        return session

    yield start
    for session in made:
        await session.dispose()


@pytest.fixture
def command():
    """The code of an extension whose command ``name`` answers with a text."""

    def make(name, answer="ok"):
        return (
            "def activate(pi):\n"
            f"    @pi.register_command({name!r})\n"
            "    async def run(args, ctx):\n"
            f"        pi.append_entry({name!r}, {answer!r})\n"
        )

    return make


@pytest.fixture
def stored_data():
    """What the commands of ``command`` stored in a session."""
    return lambda session: [entry.data for entry in session.ctx.session.entries() if entry.type == "custom"]
