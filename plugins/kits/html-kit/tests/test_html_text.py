"""Markup of texts and times: what is fast for most of them gives what the slow way gives."""

from __future__ import annotations

import re
from html import escape

from hypothesis import given
from hypothesis import strategies as st

from pi_html_kit.amounts import moment
from pi_html_kit.html_text import Html, clean, element, escaped, tag
from pi_testing import for_each

UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def rarely(characters):
    """Return texts of up to two hundred characters, most of them plain, with at most one of these."""
    plain = st.text("abc \n\t", max_size=100)
    return st.tuples(plain, st.sampled_from(characters), plain).map("".join)


@given(rarely(["", "&", "<", ">", '"', "'", "\r", "\x00", "\x1b", "\x7f", "\x85", "\ud800", "\uffff", "é", "語", "&é"]))
def test_a_character_that_a_page_must_not_contain_is_found_in_every_text(text):
    markup = escaped(text)

    assert UNSHOWN.search(markup) is None
    assert UNSHOWN.search(clean(text)) is None
    assert markup == escape(clean(text))
    assert "\r" not in markup


@for_each("length", [1, 63, 64, 65, 400])
def test_a_text_is_escaped_whatever_its_length(length):
    assert escaped("a" * (length - 1) + "<") == "a" * (length - 1) + "&lt;"
    assert escaped("é" * (length - 1) + "<") == "é" * (length - 1) + "&lt;"


@given(st.lists(st.none() | st.text("a<&\x00", max_size=3) | st.builds(Html, st.just("<i></i>")), max_size=3))
def test_an_element_is_the_tag_with_its_attributes(children):
    made = element("div", class_="a", data_n=1, hidden=True, title='"', id=None)

    assert made(*children) == tag("div", *children, class_="a", data_n=1, hidden=True, title='"', id=None)
    assert type(made(*children)) is Html


@for_each(
    ("time", "text"),
    [
        ("2026-02-28T09:05:07.123Z", "2026-02-28 09:05"),
        ("2026-01-31T23:59:59.000Z", "2026-01-31 23:59"),
        ("2026-02-28T09:05:07Z", "2026-02-28 09:05"),
        ("2026-02-28T11:05:07.123+02:00", "2026-02-28 09:05"),
        (1_772_269_507_123, "2026-02-28 09:05"),
    ],
)
def test_a_time_is_in_utc(time, text):
    date, clock = text.split()
    assert moment(time).startswith(f'<time datetime="{date}T{clock}:')
    assert moment(time).endswith(f">{text}</time>")


@for_each(
    "time",
    [
        "2026-02-30T09:05:07.123Z",
        "2026-13-01T09:05:07.123Z",
        "2026-00-01T09:05:07.123Z",
        "2026-01-00T09:05:07.123Z",
        "0000-01-01T09:05:07.123Z",
        "2026-01-01T24:05:07.123Z",
        "2026-01-01T09:60:07.123Z",
        "2026-01-01T09:05:60.123Z",
        "\uff12026-01-01T09:05:07.123Z",
        "2026-01-01T09:05:07.123Z<b>",
        "",
    ],
)
def test_what_is_no_time_is_shown_as_it_is(time):
    assert moment(time) == tag("span", time)
