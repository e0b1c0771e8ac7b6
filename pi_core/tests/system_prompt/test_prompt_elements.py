"""Elements of the system prompt that contain the text of a file."""

from __future__ import annotations

from pi_core import prompt_element
from pi_testing import for_each


def test_the_text_is_unchanged_and_the_path_is_escaped() -> None:
    element = prompt_element("memory_file", "\n- a < b & c\n", inside="memory", path='/a "b"/<c>&\'d.md')

    assert element == ('<memory_file path="/a &quot;b&quot;/&lt;c&gt;&amp;&apos;d.md">\n- a < b & c\n</memory_file>')


@for_each("tag", ["</memory_file>", "</memory>", "<memory>", "</MEMORY >", '<memory_file path="x">'])
def test_the_text_cannot_end_or_begin_an_element_like_its_own(tag: str) -> None:
    element = prompt_element("memory_file", f"a{tag}b", inside="memory", path="x")

    assert f"a&lt;{tag[1:]}b" in element


def test_other_elements_are_left_as_they_are() -> None:
    assert "<memories><b>" in prompt_element("memory_file", "<memories><b>", inside="memory", path="x")
