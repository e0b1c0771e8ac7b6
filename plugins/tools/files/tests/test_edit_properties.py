# ruff: noqa: RUF001 - characters that look alike are what is tested
"""What holds for every edit of every text."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pi_tools.editing import match
from pi_tools.editing.diff import differences
from pi_tools.editing.match import Edit, apply, normalize, split_lines
from pi_tools.failure import ToolFailure

line = st.text(st.sampled_from("ab \t\u201cé\ufb01\u00a0😀\0"), max_size=6)
ending = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def files(draw):
    lines = draw(st.lists(st.tuples(line, ending), max_size=8))
    return "".join(text + end for text, end in lines) + draw(line)


def unified(text):
    return "\n".join(split_lines(text)[0])


@given(files())
def test_lines_and_endings_are_the_whole_text(text):
    lines, endings = split_lines(text)

    assert "".join(a + b for a, b in zip(lines, endings, strict=True)) == text
    assert not any("\n" in one or "\r" in one for one in lines)
    assert endings[-1] == ""


@given(files(), files(), files(), st.text(st.sampled_from("ab \t\u201cé"), max_size=4))
def test_an_edit_and_its_reverse_are_the_identity(before, middle, after, fresh):
    """Any text, any mixture of endings; the region keeps its number of lines, which alone determine its endings."""
    old = f"<1>{unified(middle)}<2>"

    there_and_back(
        f"{before}<1>{middle}<2>{after}", old, old.replace("a", fresh).replace("b", "").replace("<2>", "<3>")
    )


@given(st.lists(line), st.lists(line), st.lists(line), st.lists(line), ending)
def test_with_one_kind_of_ending_a_reverse_edit_may_change_the_number_of_lines(before, middle, after, fresh, end):
    assume(end == "\n" or len(before) > 1 or len(after) > 1)  # one ending must be left to go by

    text = end.join(before) + f"<1>{end.join(middle)}<2>" + end.join(after)
    there_and_back(text, "<1>" + "\n".join(middle) + "<2>", "<1>" + "\n".join(fresh) + "<3>")


def there_and_back(text, old, new):
    changed, *_ = apply(text, [Edit(old, new)], "p")
    back, *_ = apply(changed, [Edit(new, old)], "p")

    assert unified(changed) == unified(text).replace(old, new)
    assert unified(back) == unified(text)
    if "\r" not in text.replace("\r\n", "") or "" not in new.split("\n"):
        assert back == text  # else an empty line may have come between a CR and an LF, which have to differ then


@given(files(), st.data())
def test_untouched_lines_keep_their_bytes(text, data):
    lines, endings = split_lines(text)
    index = data.draw(st.integers(0, len(lines) - 1))
    assume(lines[index].strip())
    try:
        changed, *_ = apply(text, [Edit(lines[index], "NEW")], "p")
    except ToolFailure:
        assume(False)

    kept = [a + b for a, b in zip(lines, endings, strict=True)]
    now = [a + b for a, b in zip(*split_lines(changed), strict=True)]
    assert now[:index] == kept[:index]
    assert now[index + 1 :] == kept[index + 1 :]


odd = st.text(
    st.sampled_from("ab \t\u201cé\ufb01½\u00a0\u3000\u2019\u2014ｶ\uff9e：😀e\u0301한\u1112\u1161"), max_size=6
)


@st.composite
def odd_files(draw):
    return "".join(text + end for text, end in draw(st.lists(st.tuples(odd, ending), max_size=4))) + draw(odd)


@given(odd_files(), odd_files(), odd_files(), odd_files(), st.booleans())
def test_everything_outside_the_matches_keeps_its_bytes(before, middle, between, after, another):
    """Whether an edit matches exactly or in normal form, and whatever another edit of the call needs."""
    text = f"{before}<1>{middle}<2>|{between}<3>x<4>{after}"
    old = normalize(unified(f"<1>{middle}<2>"))
    edits = [Edit(old, "NEW"), *([Edit("<3>x<4>", "<3>y<4>")] if another else [])]

    changed, _, loose, *_ = apply(text, edits, "p")

    assert changed == f"{before}NEW|{between}<3>{'y' if another else 'x'}<4>{after}"
    assert [unified(match.text) for match in loose] == ([] if old in unified(text) else [unified(f"<1>{middle}<2>")])


@given(odd_files(), st.data())
def test_a_match_in_normal_form_is_replaced_alone(text, data):
    """The reference looks at every part of the text; at its edges, only marks that combine and blanks may differ."""
    whole = unified(text)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    old = normalize(whole[start:end])
    assume(old.strip())
    try:
        changed, _, loose, *_ = apply(text, [Edit(old, "NEW")], "p")
    except ToolFailure:
        assume(False)

    spans = [
        (first, last)
        for first in range(len(whole) + 1)
        for last in range(first, len(whole) + 1)
        if unified(changed) == f"{whole[:first]}NEW{whole[last:]}"
    ]
    assert any(normalize(whole[first:last]).strip() == old.strip() for first, last in spans), (changed, loose)


@given(st.lists(line, max_size=12), st.lists(line, max_size=12), st.integers(0, 12))
def test_the_patch_makes_the_new_text_of_the_old_one(before, after, keep):
    text = "\n".join([f"top{n}" for n in range(keep)] + ["MARK", *before, "END"] + [f"low{n}" for n in range(keep)])
    middle = "\n".join(["MARK", *before, "END"])
    try:
        done = apply(text, [Edit(middle, "\n".join(after))], "p")
    except ToolFailure:
        assume(False)

    patch = differences(done.old, done.new, done.changes, "p", above=done.above).patch

    assert patched(text, patch) == done.text


@given(odd_files(), odd_files(), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.sampled_from("\n\r"))
def test_of_a_file_only_the_part_around_the_matches_is_taken_apart(before, after, above, between, below, end):
    """The reference takes the whole file apart."""
    top, middle, low = (f"line {n}\n" * count for n, count in enumerate((above, between, below)))
    text = f"{top}{unified(before)}<1>\n{middle}<2>{unified(after)}\n{low}".replace("\n", end)
    edits = [Edit("<2>", "new\nlines"), Edit("<1>", "")]
    with pytest.MonkeyPatch.context() as patch:
        part = apply(text, edits, "p")
        patch.setattr(match, "_AROUND", 1000)
        whole = apply(text, edits, "p")

    assert part.text == whole.text
    assert len(part.old) <= len(whole.old)
    height = max(whole.old.count("\n"), whole.new.count("\n"))
    assert differences(part.old, part.new, part.changes, "p", above=part.above, height=height) == differences(
        whole.old, whole.new, whole.changes, "p"
    )


def test_the_lines_that_are_compared_do_not_grow_with_the_file():
    text = "".join(f"line {number}\n" for number in range(10_000))

    done = apply(text, [Edit("line 5000\n", "")], "p")

    assert len(split_lines(done.old)[0]) <= 20
    assert done.text == text.replace("line 5000\n", "")


def patched(text, patch):
    old = text.split("\n")
    old = [one + "\n" for one in old[:-1]] + ([old[-1]] if old[-1] else [])
    out, at, last_was_removed = [], 0, False
    for one in patch.split("\n")[2:-1]:
        if one.startswith("@@"):
            start, count = map(int, one.split()[1][1:].split(","))
            start -= count > 0
            out += old[at:start]
            at = start
        elif one.startswith("\\"):
            out[-1:] = [out[-1].removesuffix("\n")] if not last_was_removed else out[-1:]
        else:
            last_was_removed = one.startswith("-")
            if one[0] in " -":
                assert old[at].removesuffix("\n") == one[1:]
                at += 1
            if one[0] in " +":
                out.append(one[1:] + "\n")
    return "".join(out + old[at:])
