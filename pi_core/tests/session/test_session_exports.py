"""Sessions written as documents: the exporter, its request, the place of the file, and errors."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from pi_core import SessionManager, create_agent_session
from pi_core.session.exporting import export_session
from pi_hookspecs import Model, PiError, Theme, UserError, UserMessage, hookimpl

MODEL = Model(id="m", name="m", api="x", provider="p")


class Page:
    """Exports as HTML, and keeps what it was asked."""

    format = "html"
    suffixes = (".html", ".htm")

    def __init__(self):
        self.asked = []

    def export(self, session, request):
        self.asked.append((session, request))
        return b"page of " + session.id.encode()


class Markdown:
    format = "markdown"
    suffixes = (".md",)

    def export(self, session, request):
        return "\n".join(entry.message.text for entry in session.branch() if entry.type == "message").encode()


class Plugin:
    def __init__(self, *exporters, themes=()):
        self.exporters = exporters
        self.themes = themes

    @hookimpl
    def register_exporters(self):
        return list(self.exporters)

    @hookimpl
    def register_themes(self):
        return list(self.themes)


@pytest.fixture
def exporter():
    return Page()


@pytest.fixture
def talk(tmp_path, monkeypatch):
    """Returns a session of a host in the working directory, with one message in it."""
    monkeypatch.chdir(tmp_path)

    def make(host, *messages):
        session = SessionManager.create(tmp_path, host=host, id="zebra-1")
        for message in messages or ("hello",):
            session.append_message(UserMessage(content=message))
        return session

    return make


@pytest.fixture
def session(talk, host, exporter):
    host.add(Plugin(exporter, Markdown()), "exporters")
    return talk(host)


def test_a_page_is_named_after_the_session_in_the_working_directory(session, tmp_path):
    path = session.export_html()

    assert path == Path("pi-session-zebra-1.html")
    assert (tmp_path / path).read_bytes() == b"page of zebra-1"


def test_the_suffix_says_the_format_and_html_is_meant_without_one(session, host):
    assert export_session(session, "talk.MD").read_bytes() == b"hello"
    assert export_session(session, "talk.htm").read_bytes() == b"page of zebra-1"
    assert export_session(session, "talk").read_bytes() == b"page of zebra-1"
    assert export_session(session, "talk.md", export_format="html").read_bytes() == b"page of zebra-1"
    header, message = map(orjson.loads, export_session(session, "talk.jsonl").read_bytes().splitlines())
    assert (header["id"], message["message"]["content"]) == ("zebra-1", "hello")


def test_a_suffix_that_no_format_has_is_an_error_with_those_that_are_known(session, tmp_path):
    with pytest.raises(UserError, match=r"to a file \*\.pdf\. Known suffixes: \.html, .*\.md, \.jsonl"):
        export_session(session, tmp_path / "talk.pdf")

    assert not (tmp_path / "talk.pdf").exists()


def test_only_the_user_may_read_what_was_written(session, tmp_path):
    assert (session.export_html(tmp_path / "talk.html").stat().st_mode & 0o77) == 0


def test_an_exporter_gets_themes_for_light_and_dark(talk, store, host_of, exporter):
    themes = [Theme(name=name, colors={}) for name in ("day", "night")]
    for setting, expected in (("day/night", ("day", "night")), ("night", ("night", "night")), ("gone", (None, None))):
        host = host_of(store, theme=setting)
        host.add(Plugin(exporter, themes=themes), "exporters")
        talk(host).export_html()

        request = exporter.asked[-1][1]
        assert tuple(each.name if each else None for each in (request.light, request.dark)) == expected


def test_without_an_exporter_the_error_names_what_to_install(talk, host):
    with pytest.raises(UserError, match=r"pip install pluggypi-export-html"):
        talk(host).export_html()


def test_an_unknown_format_is_an_error(session):
    with pytest.raises(UserError, match="can write sessions as 'pdf'"):
        export_session(session, export_format="pdf")


def test_a_session_in_memory_is_exported_in_every_format_of_plugins_but_html(host, tmp_path):
    host.add(Plugin(Markdown()), "exporters")
    in_memory = SessionManager.in_memory(tmp_path)
    in_memory.append_message(UserMessage(content="hello"))

    assert export_session(in_memory, tmp_path / "talk.md", host=host).read_bytes() == b"hello"
    assert b'"hello"' in export_session(in_memory, tmp_path / "talk.jsonl", host=host).read_bytes()


def test_a_session_in_memory_as_html_and_an_empty_one_are_not_exported(host, exporter, tmp_path):
    host.add(Plugin(exporter), "exporters")
    in_memory = SessionManager.in_memory(tmp_path)
    in_memory.append_message(UserMessage(content="hello"))

    with pytest.raises(UserError, match=r"^Cannot export in-memory session to HTML$"):
        in_memory.export_html(host=host)
    with pytest.raises(UserError, match=r"^Nothing to export yet - start a conversation first$"):
        SessionManager.create(tmp_path, host=host).export_html()


def test_a_file_that_cannot_be_written_is_an_error_and_leaves_nothing_behind(session, tmp_path):
    with pytest.raises(UserError, match="Cannot export to"):
        session.export_html(tmp_path / "gone" / "talk.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(UserError, match="Cannot export to"):
        session.export_html(tmp_path / "folder.html")

    assert [each.name for each in tmp_path.iterdir()] == ["folder.html"]


@pytest.mark.parametrize(
    ("export", "expected"),
    [
        pytest.param(lambda *_: 1 / 0, "ZeroDivisionError", id="raises"),
        pytest.param(lambda *_: "text", "it returned str, not bytes", id="text"),
    ],
)
def test_an_exporter_that_fails_is_named(talk, host, exporter, export, expected):
    exporter.export = export
    host.add(Plugin(exporter), "acme-pages")

    with pytest.raises(PiError, match=rf"Plugin 'acme-pages' failed to export the session: .*{expected}"):
        talk(host).export_html()


@pytest.mark.parametrize("suffixes", [(), "html", ("html",), (".",), [7]], ids=str)
def test_an_exporter_with_invalid_suffixes_is_reported(host, exporter, suffixes):
    exporter.suffixes = suffixes

    host.add(Plugin(exporter), "acme-pages")

    assert host.find("register_exporters", "html") is None
    assert "suffixes must be endings such as" in str(host.problems[-1])


async def test_a_running_session_exports_its_prompt_and_tools(session, host, exporter, tmp_path):
    async with create_agent_session(
        session_manager=session, host=host, settings=host.settings, cwd=tmp_path, model=MODEL
    ) as agent:
        path = await agent.export_html("talk.html")
        copy = await agent.export_jsonl("copy.txt")
        other = await agent.ctx.export("notes.md")

    request = exporter.asked[0][1]
    assert path.read_bytes() == b"page of zebra-1"
    assert b'"zebra-1"' in copy.read_bytes()
    assert other.read_bytes() == b"hello"
    assert request.system_prompt == agent.agent.state.system_prompt != ""
    assert list(request.tools) == []


async def test_a_session_that_works_elsewhere_writes_there(session, host, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with create_agent_session(
        session_manager=session, host=host, settings=host.settings, cwd=elsewhere, model=MODEL
    ) as agent:
        assert await agent.export_html() == elsewhere / "pi-session-zebra-1.html"
        assert await agent.export_to_html(tmp_path / "here.html") == tmp_path / "here.html"


async def test_a_theme_in_a_file_is_found(talk, store, host_of, exporter, tmp_path):
    file = tmp_path / "dusk.json"
    file.write_text('{"colors": {"accent": "sea", "text": ""}, "vars": {"sea": "#088"}, "export": {"pageBg": "#111"}}')
    host = host_of(store, theme="dusk", themes=[str(file)])
    host.add(Plugin(exporter), "exporters")
    session = talk(host)

    async with create_agent_session(
        session_manager=session, host=host, settings=host.settings, cwd=tmp_path, model=MODEL
    ) as agent:
        await agent.export_html()

    (_, request), *_ = exporter.asked
    expected = Theme(name="dusk", colors={"accent": "sea", "text": "", "pageBg": "#111"}, vars={"sea": "#088"})
    assert request.light == request.dark == expected
