"""What a call has to give a function, which is read from its code where that is possible."""

from __future__ import annotations

from functools import wraps

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.hooks.signatures import needed

HEADS = st.lists(st.sampled_from(["", "=1"]), max_size=3).map(sorted)


@given(positional=HEADS, slash=st.booleans(), star=st.sampled_from(["", "*", "*more"]), keywords=HEADS)
def test_the_code_of_a_function_says_what_its_signature_says(positional, slash, star, keywords):
    parts = [f"p{number}{end}" for number, end in enumerate(positional)]
    parts += ["/"] if slash and parts else []
    named = [f"k{number}{end}" for number, end in enumerate(keywords)] if star else []
    parts += [star] if star == "*more" or named else []
    namespace = {}
    exec(f"def function({', '.join([*parts, *named, '**rest'])}): local = 1", namespace)  # noqa: S102
    function = namespace["function"]

    @wraps(function)
    def wrapped(*arguments, **named):
        raise AssertionError

    assert needed(function) == needed(wrapped)


def test_a_decorator_that_keeps_the_signature_needs_what_the_function_needs():
    def plain(event, ctx, *, depth): ...

    @wraps(plain)
    def decorated(*arguments, **named): ...

    assert needed(decorated) == (["event", "ctx"], ["depth"], False)


def test_a_builtin_without_a_signature_is_an_error():
    with pytest.raises(ValueError, match="signature"):
        needed(dict)
