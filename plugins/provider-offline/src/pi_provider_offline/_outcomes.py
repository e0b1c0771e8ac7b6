"""What came of a request: the values that answers are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

if TYPE_CHECKING:
    from pi_provider_offline._requests import Unit


@frozen(eq=False, repr=False)
class Lines:
    """Lines of a file.

    Attributes:
        text: The lines, with their ends.
        first: Number of the first one; 0 where it is unknown.
        rest: Why not all that was asked for is there, and where the file goes on.
    """

    text: str
    first: int = 1
    rest: str | None = None


@frozen(eq=False, repr=False)
class Entries:
    """Names that a folder holds, that a pattern matched, or matching lines; ``notice`` says that there are more."""

    names: tuple[str, ...]
    notice: str | None = None


@frozen(eq=False, repr=False)
class Counts:
    """Counted lines, words or characters of a file."""

    numbers: dict[Unit, int]


@frozen(eq=False, repr=False)
class FileCounts:
    """Counted files and folders; ``at_least`` where the listing was cut."""

    files: int
    folders: int
    at_least: bool = False


@frozen(eq=False, repr=False)
class Output:
    """What a command printed; ``failed`` when it exited with an error or was not run."""

    text: str
    failed: bool = False


@frozen(eq=False, repr=False)
class Written:
    """The file was written: this many lines and characters."""

    lines: int
    characters: int


@frozen(eq=False, repr=False)
class Replaced:
    """The text was replaced this often."""

    times: int


@frozen(eq=False, repr=False)
class Outline:
    """A file as far as it was read, to be summarised; ``rest`` says what was not."""

    text: str
    rest: str | None = None


@frozen(eq=False, repr=False)
class Failed:
    """A tool said no; ``why`` is its text."""

    why: str


@frozen(eq=False, repr=False)
class Missing:
    """No tool can do it; any one of these sets would be enough: ``(("read",), ("bash",))``."""

    needs: tuple[tuple[str, ...], ...]


@frozen(eq=False, repr=False)
class Said:
    """Nothing to do: the request itself is the answer's subject."""


Outcome: TypeAlias = (
    Lines | Entries | Counts | FileCounts | Output | Written | Replaced | Outline | Failed | Missing | Said
)
