"""A store that keeps sessions in memory until the process ends.

`pi plugin new NAME --kind store` creates one that writes to disk, as a starting point.
"""

from pi_core import MemoryStore
from pi_hookspecs import hookimpl


class Scratch(MemoryStore):
    name = "scratch"


@hookimpl
def register_session_stores():
    return [Scratch]


# Test

from pi_hookspecs import SessionHeader, SessionPlace


async def test_example(pi_host, tmp_path):
    store = pi_host.find("register_session_stores", "scratch").thing(SessionPlace(agent_dir=tmp_path))

    store.create(SessionHeader(id="one", timestamp="2026-01-01T00:00:00.000Z", cwd="/here"))

    assert store.open("one").header.cwd == "/here"
