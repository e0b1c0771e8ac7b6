r"""Expressions for hyperscan that match wherever a Python pattern can match, and seldom elsewhere.

hyperscan looks for all expressions at once, in bytes, without look-around and at the speed of memory. So it answers
only *whether* a pattern can match; the pattern itself then decides. An expression may be wider than its pattern, never
narrower: what it leaves out (look-around, edges of words, upper bounds of long repetitions) only ever rejects. A class
that accepts characters beyond ASCII accepts every byte of their UTF-8, and a repetition then counts these bytes.
"""

from __future__ import annotations

from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["superset"]

_MOST = 32
"""Repetitions that are counted; more of them would only make the automaton larger."""
_HIGH = r"\x80-\xff"
_ALSO = {"i": ("\u0130", "\u0131"), "k": ("\u212a",), "s": ("\u017f",)}
"""Characters beyond ASCII that a pattern without case takes for these letters."""
_CATEGORIES = {
    op.CATEGORY_SPACE: r"\x09-\x0d\x1c-\x20" + _HIGH,
    op.CATEGORY_NOT_SPACE: r"\x00-\x08\x0e-\x1b\x21-\x7f" + _HIGH,
    op.CATEGORY_DIGIT: "0-9" + _HIGH,
    op.CATEGORY_WORD: "A-Za-z0-9_" + _HIGH,
}


def superset(pattern: str, *, is_whole: bool = True) -> str:
    """Return the expression for a pattern.

    Args:
        pattern: A pattern of ``re``.
        is_whole: Whether nothing is going to be appended: a repetition at the end then needs no more than its minimum.

    Raises:
        NotImplementedError: The pattern has an element that has no counterpart here.
    """
    parsed = _parser.parse(pattern)
    return _sequence(parsed, ignore_case=bool(parsed.state.flags & op.SRE_FLAG_IGNORECASE), last=is_whole)


def _sequence(items: Any, *, ignore_case: bool, last: bool) -> str:
    items = [item for item in items if item[0] not in (op.ASSERT, op.ASSERT_NOT, op.AT)]
    return "".join(
        _one(name, value, ignore_case=ignore_case, last=last and at == len(items) - 1)
        for at, (name, value) in enumerate(items)
    )


def _one(name: Any, value: Any, *, ignore_case: bool, last: bool) -> str:
    if name is op.LITERAL:
        return _literal(value, ignore_case=ignore_case)
    if name is op.IN:
        return _class(value, ignore_case=ignore_case)[0]
    if name in (op.ANY, op.NOT_LITERAL):
        return r"[\x00-\xff]"
    if name in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _repeat(*value, ignore_case=ignore_case, last=last)
    if name is op.SUBPATTERN:
        _, added, removed, value = value
        ignore_case = (ignore_case or bool(added & op.SRE_FLAG_IGNORECASE)) and not removed & op.SRE_FLAG_IGNORECASE
    elif name not in (op.BRANCH, op.ATOMIC_GROUP):
        raise NotImplementedError(str(name))
    branches = value[1] if name is op.BRANCH else [value]
    return f"(?:{'|'.join(_sequence(each, ignore_case=ignore_case, last=last) for each in branches)})"


def _repeat(least: int, most: int, inner: Any, *, ignore_case: bool, last: bool) -> str:
    body = f"(?:{_sequence(inner, ignore_case=ignore_case, last=False)})"
    low = min(least, _MOST)
    if last:  # what follows cannot reject any more
        return f"{body}{{{low}}}" if low else ""
    if max(least, most) > _MOST or _is_wide(inner):
        return f"{body}{{{low},}}"
    return f"{body}{{{low},{most}}}"


def _is_wide(items: Any) -> bool:
    """Return whether something in a sequence matches characters of several bytes."""
    return any(
        (name is op.IN and _class(value, ignore_case=False)[1])
        or name in (op.NOT_LITERAL, op.ANY)
        or (name is op.SUBPATTERN and _is_wide(value[3]))
        or (name is op.BRANCH and any(map(_is_wide, value[1])))
        or (name in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and _is_wide(value[2]))
        for name, value in items
    )


def _class(items: Any, *, ignore_case: bool) -> tuple[str, bool]:
    """Return a class of bytes, and whether it accepts characters of several."""
    negated = bool(items) and items[0][0] is op.NEGATE
    parts = []
    for name, value in items[1:] if negated else items:
        if name is op.LITERAL:
            parts.append(_cased(value, ignore_case=ignore_case))
        elif name is op.RANGE:
            low, high = value
            parts.append(f"{_byte(low)}-{_byte(high)}" if high < 0x80 else _HIGH)  # noqa: PLR2004 - ASCII
            letters = [each for each in range(low, min(high, 0x7F) + 1) if chr(each).isalpha()]
            if ignore_case and letters:
                parts += [*(_cased(each, ignore_case=ignore_case) for each in letters), _HIGH]
        elif name is op.CATEGORY and value in _CATEGORIES:
            parts.append(_CATEGORIES[value].replace(_HIGH, "") if negated else _CATEGORIES[value])
        else:
            raise NotImplementedError(f"{name} {value}")
    inside = "".join(parts)
    return (f"[^{inside}]", True) if negated else (f"[{inside}]", _HIGH in inside)


def _literal(code: int, *, ignore_case: bool) -> str:
    if code >= 0x80:  # noqa: PLR2004 - ASCII
        return "".join(f"\\x{each:02x}" for each in chr(code).encode())
    if not ignore_case or not chr(code).isalpha():
        return _byte(code)
    others = ["".join(f"\\x{each:02x}" for each in other.encode()) for other in _ALSO.get(chr(code).lower(), ())]
    return (
        f"(?:{'|'.join((f'[{_cased(code, ignore_case=ignore_case)}]', *others))})"
        if others
        else f"[{_cased(code, ignore_case=ignore_case)}]"
    )


def _cased(code: int, *, ignore_case: bool) -> str:
    if code >= 0x80:  # noqa: PLR2004 - ASCII
        return _HIGH
    letter = chr(code)
    return f"{letter.lower()}{letter.upper()}" if ignore_case and letter.isalpha() else _byte(code)


def _byte(code: int) -> str:
    letter = chr(code)
    return letter if letter.isalnum() and letter.isascii() else f"\\x{code:02x}"
