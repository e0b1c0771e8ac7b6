"""Forms: several typed fields that the user fills in together, for ``ctx.ui.form``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["FieldType", "FormField", "FormOption"]

FieldType: TypeAlias = Literal["text", "number", "integer", "boolean", "choice", "choices"]


@frozen(eq=False, repr=False)
class FormOption(Value):
    """An option of a choice; ``title`` is displayed in place of the value."""

    value: str
    title: str = ""

    @property
    def label(self) -> str:
        """What is displayed."""
        return self.title or self.value


def _options(options: Iterable[str | FormOption]) -> tuple[FormOption, ...]:
    return tuple(each if isinstance(each, FormOption) else FormOption(each) for each in options)


def _check_pattern(name: str, pattern: str) -> None:
    import re

    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"field {name!r}: the pattern {pattern!r:.60} is not a regular expression: {error}") from None


@frozen(eq=False, repr=False)
class FormField(ReprMixin):
    """One field of a form.

    Attributes:
        name: The key of its value in the answer.
        type: The value is a ``str`` for ``text`` and ``choice``, a ``float`` for ``number``, an ``int`` for
            ``integer``, a ``bool`` for ``boolean``, a ``list`` of ``str`` for ``choices``, which allows several.
        title: What the user sees; the name by default.
        description: A sentence that explains it.
        options: What a choice offers: texts, or ``FormOption`` with another title.
        default: The value if the user enters nothing.
        required: Whether a value is required; an optional field without a value is not in the answer.
        minimum: The minimum number, length of a text, or number of choices.
        maximum: The maximum of the same.
        pattern: A regular expression that must match somewhere in a text; the message for one that does not match is
            the description, if there is one.
        check: Called with a value that passes all other checks; returns an error message, or None.

    Raises:
        ValueError: The type is unknown, a choice has no options, or the pattern is not a regular expression.
    """

    name: str
    type: FieldType = "text"
    title: str = field(default="", kw_only=True)
    description: str = field(default="", kw_only=True)
    options: tuple[FormOption, ...] = field(default=(), converter=_options, kw_only=True)
    default: Any = field(default=None, kw_only=True)
    required: bool = field(default=False, kw_only=True)
    minimum: float | None = field(default=None, kw_only=True)
    maximum: float | None = field(default=None, kw_only=True)
    pattern: str | None = field(default=None, kw_only=True)
    check: Callable[[Any], str | None] | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.type not in get_args(FieldType):
            raise ValueError(f"field {self.name!r}: the type must be one of {', '.join(get_args(FieldType))}")
        if self.type in ("choice", "choices") and not self.options:
            raise ValueError(f'field {self.name!r}: a {self.type} needs options=["one", "two"]')
        if self.pattern is not None:
            _check_pattern(self.name, self.pattern)

    @property
    def label(self) -> str:
        """What is displayed as its name."""
        return self.title or self.name
