"""A store in memory that keeps bytes, and the plugin and settings that register it."""

from __future__ import annotations

import errno

import pytest
from attrs import define, field

from pi_core import PluginHost, Settings
from pi_core.wire import dumps, entry_from_wire
from pi_hookspecs import EntryIndex, UserError, hookimpl


class Indexed:
    """Entries as bytes: the index is there, an entry is parsed when it is looked at, and counted in ``parsed``."""

    def __init__(self, lines):
        import orjson

        self._lines = list(lines)
        plain = [orjson.loads(each) for each in self._lines]
        self.index = EntryIndex(
            ids=[each["id"] for each in plain],
            parent_ids=[each["parentId"] for each in plain],
            types=[each["type"] for each in plain],
        )
        self.parsed = []

    def __len__(self):
        return len(self._lines)

    def __getitem__(self, number, /):
        import orjson

        self.parsed.append(number)
        return entry_from_wire(orjson.loads(self._lines[number]))


@define(eq=False, slots=False)
class ListedSession:
    header: object
    lines: list
    entries: object = ()
    notices: list = field(factory=list)
    appends: list = field(factory=list)
    failure: object = None
    file = None
    synced = 0
    closed = False

    @property
    def reference(self):
        return self.header.id

    def append(self, entries):
        if self.failure is not None:
            raise self.failure
        self.appends.append([entry.id for entry in entries])
        self.lines += map(dumps, entries)

    def sync(self):
        self.synced += 1

    def close(self):
        self.closed = True


class ListStore:
    """Keeps its sessions in a list that the test can look at; ``sessions`` is one for all instances of a test."""

    name = "listed"
    sessions: dict  # each test's subclass has one

    def __init__(self, place):
        self.place = place

    def create(self, header, reference=None):
        made = ListedSession(header, [])
        self.sessions[reference or header.id] = made
        return made

    def open(self, reference):
        found = self.sessions.get(reference)
        if found is None:
            raise UserError(f"nothing is stored under {reference!r}")
        return ListedSession(found.header, found.lines, Indexed(found.lines))

    def list(self, cwd=None, progress=None):
        return [info for info in self.infos if cwd is None or info.cwd == cwd]

    def latest(self, cwd):
        return next((key for key, each in reversed(self.sessions.items()) if each.header.cwd == cwd), None)

    def fork(self, source, header, numbers):
        made = self.create(header)
        made.lines += [source.lines[number] for number in numbers]
        return self.open(header.id)

    infos = ()


@pytest.fixture(scope="session")
def store_class():
    """Makes a store's class, with ``sessions`` of its own."""
    return lambda: type("ListStore", (ListStore,), {"sessions": {}})


@pytest.fixture
def store(store_class):
    """The store's class; its ``sessions`` are what is stored."""
    return store_class()


class StorePlugin:
    """A plugin that brings a store."""

    def __init__(self, store):
        self._store = store

    @hookimpl
    def register_session_stores(self):
        return [self._store]


@pytest.fixture(scope="session")
def host_of(tmp_path_factory):
    """Makes a host whose only plugin brings a store, and whose settings choose it."""

    def add(host, store):
        host.add(StorePlugin(store), store.name)

    def make(store, **chosen):
        values = {"sessionStore": "listed", **chosen}
        host = PluginHost(Settings.in_memory(values, agent_dir=tmp_path_factory.getbasetemp()), installed=False)
        if store is not None:
            add(host, store)
        return host

    make.add = add
    return make


@pytest.fixture
def host(host_of, store):
    """A host with the store of this test."""
    return host_of(store)


@pytest.fixture
def full():
    return OSError(errno.ENOSPC, "No space left on device")
