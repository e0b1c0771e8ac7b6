"""Whatever a session holds is text in its page: no element, no attribute, no link and no script comes of it."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

import pytest
from attrs import define
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core.session.tree import SessionTree
from pi_export_html.exporter import HtmlExporter
from pi_export_html.page import page_script
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessage,
    CustomMessageEntry,
    EditedContent,
    ExportRequest,
    ImageContent,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionHeader,
    SessionInfoEntry,
    SystemMessage,
    TextContent,
    Theme,
    ThinkingContent,
    ThinkingLevelChangeEntry,
    ToolCall,
    ToolResultMessage,
    UnknownContent,
    UnknownEntry,
    UnknownMessage,
    Usage,
    UsageEntry,
    UserMessage,
)
from pi_html_kit.assets import CONTENT_STYLE, asset
from pi_html_kit.maths import _ATTRIBUTES, _ELEMENTS

# ruff: noqa: E501, Q003 - a table of attacks, one as it is written to the next
ATTACKS = [
    "<script>document.documentElement.dataset.pwned = 1</script>",
    "</script><script>alert(1)</script>",
    "</style><style>body{display:none}</style>",
    "<!-- --><!--", "-->", "]]><![CDATA[", "<?php ?>",
    "<img src=x onerror=alert(1)>",
    "\"><svg/onload=alert(1)>", "' onmouseover='alert(1)", "`onclick=alert(1)`",
    "[a](javascript:alert(1))", "<javascript:alert(1)>", "[a](JaVaScRiPt&#58;alert(1))", "[a](java\tscript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)", "![a](data:image/svg+xml;base64,PHN2Zz4=)", "[a](vbscript:x)", "[a](file:///etc/passwd)",
    "![pixel](https://tracker.example/p.png)", "[![a](https://a.example/b.png)](https://c.example)", "[a](//evil.example)",
    "[a](https://x.example/\"onclick=\"alert(1))", "[a](https://x.example 'ti\"tle')", "[a]: javascript:alert(1)\n\n[a]",
    "```\"><script>\ncode\n```", "~~~ <b>\n</pre><script>\n~~~", "```diff\n+<b>\n-</ins>\n```",
    "| <b> | [a](javascript:x) |\n| --- | :---: |\n| <i> | &lt; |",
    "<iframe src=//evil.example></iframe>", "<base href=//evil.example>", "<meta http-equiv=refresh content=0>", "<form action=x><input>",
    "\x1b[31m<b>\x1b[0m", "\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07", "\x1b[38;5;999999999m", "\x1b[38;2;<b>;1;1mx",
    "\x00\x01\x7f\x85\ud800\udfff\ufffe", "a\rb\r\nc", "\u202e\u2066 evil \u2028\u2029", "&lt;script&gt; &amp; &#x3c;b&#x3e;",
    "{{constructor.constructor('alert(1)')()}}", "${alert(1)}", "%3Cscript%3E", "<" * 300, ">" * 300, "[" * 300, "*" * 300,
]  # fmt: skip

PIECES = st.one_of(st.sampled_from(ATTACKS), st.text(max_size=20), st.sampled_from([*"<>&\"'`=[]()!#*_-+|\\/:\n \t"]))
TEXTS = st.lists(PIECES, max_size=6).map("".join)
IDS = st.one_of(st.sampled_from(["a", "b", "c"]), TEXTS)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(st.one_of(st.sampled_from(["command", "path", "edits", "name"]), TEXTS), VALUES, max_size=3)
IMAGES = st.builds(
    ImageContent, data=TEXTS, mime_type=st.one_of(st.sampled_from(["image/png", "image/svg+xml"]), TEXTS)
)
UNKNOWN = st.builds(UnknownContent, type=TEXTS, extra=st.dictionaries(TEXTS, VALUES, max_size=2))
USER = st.one_of(TEXTS, st.lists(st.one_of(st.builds(TextContent, TEXTS), IMAGES, UNKNOWN), max_size=3).map(tuple))
RESULT = USER.filter(lambda content: not isinstance(content, str))
USAGE = st.builds(Usage, input=st.integers(0, 10**7), output=st.integers(0, 9))
THOUGHTS = st.builds(ThinkingContent, TEXTS, redacted=st.booleans())
CALLS = st.builds(ToolCall, id=IDS, name=TEXTS, arguments=ARGUMENTS, arguments_error=st.none() | TEXTS)
TIMES = st.one_of(st.just("2026-11-22T02:03:04.005Z"), TEXTS)

MESSAGES = st.one_of(
    st.builds(UserMessage, content=USER),
    st.builds(
        AssistantMessage,
        content=st.lists(st.one_of(st.builds(TextContent, TEXTS), THOUGHTS, CALLS, UNKNOWN), max_size=4).map(tuple),
        api=TEXTS,
        provider=TEXTS,
        model=TEXTS,
        usage=USAGE,
        stop_reason=st.sampled_from(["stop", "error", "aborted", "length", "toolUse"]),
        error_message=st.none() | TEXTS,
    ),
    st.builds(
        ToolResultMessage,
        tool_call_id=IDS,
        tool_name=TEXTS,
        content=RESULT,
        details=st.one_of(VALUES, st.builds(dict, diff=TEXTS)),
        is_error=st.booleans(),
        usage=st.none() | USAGE,
        duration_ms=st.none() | st.integers(0, 10**6),
    ),
    st.builds(SystemMessage, content=TEXTS),
    st.builds(
        SystemMessage,
        content=TEXTS,
        sections=st.none() | st.dictionaries(TEXTS, st.none() | TEXTS, max_size=2),
        tools_added=st.none() | st.tuples(st.fixed_dictionaries({"name": TEXTS, "description": TEXTS}) | VALUES),
        tools_removed=st.none() | st.tuples(st.fixed_dictionaries({"name": TEXTS}) | VALUES),
    ),
    st.builds(BashExecutionMessage, command=TEXTS, output=TEXTS, truncated=st.booleans(), full_output_path=TEXTS),
    st.builds(CustomMessage, custom_type=TEXTS, content=USER, display=st.booleans()),
    st.builds(UnknownMessage, role=TEXTS, extra=st.dictionaries(TEXTS, VALUES, max_size=2)),
)
FRAME = {"id": IDS, "parent_id": st.none() | IDS, "timestamp": TIMES}
ENTRIES = st.one_of(
    st.builds(MessageEntry, **FRAME, message=MESSAGES),
    st.builds(ModelChangeEntry, **FRAME, provider=TEXTS, model_id=TEXTS),
    st.builds(ThinkingLevelChangeEntry, **FRAME, thinking_level=TEXTS),
    st.builds(CompactionEntry, **FRAME, summary=TEXTS, first_kept_entry_id=IDS, tokens_before=st.integers(0, 9**9)),
    st.builds(BranchSummaryEntry, **FRAME, from_id=IDS, summary=TEXTS, usage=st.none() | USAGE),
    st.builds(CustomEntry, **FRAME, custom_type=TEXTS, data=VALUES),
    st.builds(CustomMessageEntry, **FRAME, custom_type=TEXTS, content=USER, display=st.booleans()),
    st.builds(LabelEntry, **FRAME, target_id=IDS, label=st.none() | TEXTS),
    st.builds(SessionInfoEntry, **FRAME, name=TEXTS),
    st.builds(UsageEntry, **FRAME, kind=TEXTS, provider=TEXTS, model=TEXTS, usage=USAGE, note=st.none() | TEXTS),
    st.builds(ContextEditEntry, **FRAME, target_id=IDS, replacement=st.none() | st.builds(EditedContent, USER)),
    st.builds(UnknownEntry, **FRAME, type=TEXTS, extra=st.dictionaries(TEXTS, VALUES, max_size=2)),
)
THEMES = st.builds(
    Theme, name=TEXTS, colors=st.dictionaries(st.sampled_from(["accent", "text"]), TEXTS, max_size=2), vars=st.just({})
)

ALLOWED = {
    # what the page itself is made of
    "html": {"lang"}, "head": set(), "title": set(), "style": set(), "script": set(), "body": set(), "main": set(),
    "meta": {"charset", "name", "content", "http-equiv"}, "nav": {"aria-label"}, "label": {"for", "title"},
    "input": {"type", "id", "placeholder", "aria-label"}, "select": {"id", "aria-label"}, "option": {"value"},
    "section": {"class"}, "article": {"id", "class"}, "header": set(), "footer": {"class"}, "div": {"id", "class"},
    "details": {"class"}, "summary": set(), "dl": {"class"}, "dt": set(), "dd": set(), "i": set(), "b": set(), "mark": set(),
    "small": set(), "time": {"datetime", "title"}, "span": {"class"}, "img": {"src", "alt", "title", "loading"},
    "a": {"href", "title", "target", "rel"}, "ins": set(), "del": set(),
    # what Markdown adds
    "p": {"id", "class"}, "h1": set(), "h2": set(), "h3": set(), "h4": set(), "h5": set(), "h6": set(), "ul": {"id", "data-filter"},
    "ol": {"start"}, "li": {"class", "data-n", "data-p"}, "blockquote": set(), "pre": {"class"}, "code": {"data-lang"}, "em": set(),
    "strong": set(), "s": set(), "hr": set(), "br": set(), "table": set(), "thead": set(), "tbody": set(), "tr": set(),
    "th": {"class"}, "td": {"class"},
    # formulas
    **dict.fromkeys(_ELEMENTS, _ATTRIBUTES),
}  # fmt: skip
OUR_CLASS = re.compile(r"[a-z0-9 -]*")
OUR_LINK = re.compile(r"#(?:e\d+)?|(?:https?://|mailto:)\S+", re.IGNORECASE)


def check(page):
    """Nothing is in the page but what the exporter is known to write."""
    for tag, attributes in page.elements:
        assert tag in ALLOWED, f"<{tag}> {attributes}"
        assert set(attributes) <= ALLOWED[tag], f"<{tag}> {attributes}"
        assert OUR_CLASS.fullmatch(attributes.get("class") or ""), attributes
        if "id" in attributes:
            assert re.fullmatch(r"e\d+|nav|find|filter|tree|log|elsewhere", attributes["id"]), attributes
        if tag == "a":
            assert OUR_LINK.fullmatch(attributes["href"]), attributes
            assert attributes["href"].startswith("#") or attributes["rel"] == "noopener noreferrer"
        if tag == "img":
            assert re.fullmatch(r"data:image/(?:png|jpeg|gif|webp|bmp);base64,[A-Za-z0-9+/=]+", attributes["src"])
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert [data for tag, data in page.texts if tag == "script"] == [page_script()]
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert page.declarations == ["DOCTYPE html"]
    assert page.open == []


@define(slots=False)
class View:
    """A session of any entries at all; implements what an exporter uses of ``SessionView``."""

    stored: list
    header: SessionHeader

    def __attrs_post_init__(self):
        self.tree = SessionTree(self.stored)

    @property
    def id(self):
        return self.header.id

    @property
    def name(self):
        return next((each.name for each in self.stored if isinstance(each, SessionInfoEntry)), None)

    def entries(self):
        return self.tree.entries()

    def branch(self):
        return self.tree.branch()

    def label(self, entry_id):
        labels = [each.label for each in self.stored if isinstance(each, LabelEntry) and each.target_id == entry_id]
        return labels[-1] if labels else None


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    entries=st.lists(ENTRIES, max_size=6),
    prompt=TEXTS,
    theme=st.none() | THEMES,
    cwd=TEXTS,
)
def test_nothing_that_a_session_holds_becomes_markup(read_page, entries, prompt, theme, cwd):
    header = SessionHeader(id=cwd, timestamp=cwd, cwd=cwd, parent_session=cwd)
    request = ExportRequest(system_prompt=prompt, light=theme, dark=theme)

    source = HtmlExporter().export(View(entries, header), request).decode()

    check(read_page(source))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", source)


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_an_attack_in_every_field_of_a_conversation_shows_as_text(read_page, session, page, answer, attack):
    for message in (
        UserMessage(content=attack),
        answer(
            attack,
            ThinkingContent(attack),
            ToolCall(id="c", name=attack, arguments={attack: attack, "path": attack}),
            error_message=attack,
            stop_reason="error",
        ),
        ToolResultMessage(tool_call_id="c", tool_name=attack, content=(TextContent(attack),), details={"diff": attack}),
    ):
        session.append_message(message)
    session.append_label_change(session.leaf_id, attack)
    session.append_session_info(attack)

    found = page(system_prompt=attack)

    check(found)


def test_html_in_an_answer_is_read_as_it_was_written(session, page, answer):
    text = "Use <script>alert(1)</script>, <b>not</b> &lt;i&gt;."
    session.append_message(UserMessage(content="<!-- hi --> ]]>"))
    session.append_message(answer(text))

    found = page()

    assert "Use <script>alert(1)</script>, <b>not</b> <i>." in found.text  # the entities are Markdown's own
    assert "<!-- hi --> ]]>" in found.text
    check(found)


def test_only_images_are_shown_as_images(session, page):
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    for data, mime_type in (
        (png, "image/png"),
        (png, "image/svg+xml"),
        (png, "image/jpeg"),
        ("PHN2Zz4=", "image/png"),
        (f'{png}" onerror="alert(1)', "image/png"),
        (png, 'image/png" onerror="alert(1)'),
    ):
        session.append_message(UserMessage(content=(ImageContent(data=data, mime_type=mime_type),)))

    found = page()

    assert [each["src"] for each in found.all("img")] == [f"data:image/png;base64,{png}"]
    assert found.text.count("[image, not shown:") == 5
    check(found)


def test_the_policy_allows_our_style_and_script_and_nothing_else(written):
    source = written(light=Theme(name="x", colors={"accent": "#123456"}))

    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', source)[1].replace("&#x27;", "'")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    style, script = (re.search(f"<{tag}>(.*?)</{tag}>", source, re.DOTALL)[1] for tag in ("style", "script"))
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": f"'sha256-{hashed(style)}'",
        "script-src": f"'sha256-{hashed(script)}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def hashed(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_our_own_script_makes_no_markup_of_texts():
    script = re.sub(r'"[^"\n]*"', "", page_script())  # its strings are words of languages, which it colours

    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|</|<!--|fetch|import", script
    )
    for style in (files("pi_export_html").joinpath("page.css").read_text("utf-8"), asset(CONTENT_STYLE)):
        assert not re.search(r"</|url\(|@import", style)
