"""How file sizes are formatted."""

from __future__ import annotations

from pi_core.base.sizes import format_size
from pi_testing import for_each


@for_each(
    ("size", "message"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 KB"),
        (32_768, "32 KB"),
        (60_000, "58.6 KB"),
        (50 * 1024**2, "50 MB"),
        (3 * 1024**4, "3072 GB"),
    ],
)
def test_a_size_is_formatted_in_a_suitable_unit(size, message):
    assert format_size(size) == message
