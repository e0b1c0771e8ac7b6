"""Formulas in LaTeX as Unicode, such as E = mc²; one that has no such form stays as it is."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["formula_text"]

_FUNCTIONS = re.compile(
    r"\\(arccos|arcsin|arctan|arg|cos|cosh|cot|deg|det|dim|exp|gcd|inf|ker|lim|ln|log|max|min|mod|Pr|sin|sinh|sup|tan|tanh)"
    r"(?![A-Za-z])"
)
_UPRIGHT = re.compile(r"\\(?:text|mathrm|operatorname|textrm|textbf|textit|mathit)\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")
_DELIMITER = re.compile(r"\\(?:left|right|big|Big|displaystyle)(?![A-Za-z])")
_SPACE = re.compile(r"\\[,;:! ]|\\q?quad(?![A-Za-z])|~")
_SCRIPT = re.compile(r"([\^_])\{([^{}]+)\}")
_SHELL = re.compile(r"[A-Z_][A-Z0-9_]+(?![A-Za-z(])|\{|\((?!.*[\\^])")
_MATHEMATICAL = re.compile(r"[\\^_=+<>]|^[A-Za-z]$|^[A-Za-z]\(.*\)$")
_DEEPEST = 4
"""Fractions and roots that are nested in one another."""


@lru_cache(maxsize=1000)
def formula_text(source: str) -> str | None:
    """Return a formula as one line of Unicode.

    Args:
        source: The text between dollar signs.

    Returns:
        None if it is no formula but, for example, a part of a shell command between two variables, or if a part of it
        cannot be written in a line.
    """
    if _SHELL.match(source) is not None or _MATHEMATICAL.search(source.strip()) is None:
        return None
    import unicodeit  # type: ignore[import-untyped]

    text = _SPACE.sub(" ", _DELIMITER.sub("", _FUNCTIONS.sub(r"\1 ", source)))
    for _ in range(_DEEPEST):
        text = _UPRIGHT.sub(r"\1", text)
        text = _FRACTION.sub(lambda found: f"{_grouped(found[1])}/{_grouped(found[2])}", text)
        text = _ROOT.sub(lambda found: f"√{_grouped(found[1])}", text)
    text = _SCRIPT.sub(r"\1(\2)", unicodeit.replace(text))
    return None if re.search(r"[\\{}&]", text) is not None else " ".join(text.split())


def _grouped(part: str) -> str:
    """Return a part of a formula in parentheses, unless it is one number, letter or command."""
    part = part.strip()
    return part if re.fullmatch(r"\w+|\\[A-Za-z]+", part) is not None else f"({part})"
