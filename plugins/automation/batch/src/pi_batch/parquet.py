"""Reads tasks from Parquet files and writes results to them; requires pyarrow."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pi_batch.record import Record

__all__ = ["UnreadableParquet", "check_pyarrow", "read_rows", "write_records"]

_ROWS = 1000  # read at a time


class UnreadableParquet(Exception):
    """A file is not a Parquet file, or is damaged."""


def check_pyarrow() -> None:
    """Check that Parquet files can be read and written.

    Raises:
        UserError: pyarrow is not installed.
    """
    _pyarrow()


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file; ``files`` may be a map, a struct or JSON, and ``plugins`` a list or JSON.

    Raises:
        OSError: The file cannot be read.
        UnreadableParquet: The file is not a Parquet file, or is damaged.
        UserError: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    with file.open("rb") as stream:
        try:
            for batch in parquet.ParquetFile(stream).iter_batches(_ROWS):
                for row in batch.to_pylist(maps_as_pydicts="strict"):
                    yield {name: _plain(name, value) for name, value in row.items()}
        except arrow.ArrowException as error:
            raise UnreadableParquet(str(error)) from error


def write_records(file: Path, records: Iterable[Record]) -> None:
    """Write a table with one row for each result; it replaces an existing file only when complete."""
    arrow, parquet = _pyarrow()
    new = file.with_name(f".{file.name}.new")
    columns = [
        *((name, arrow.string()) for name in ("id", "status")),
        ("score", arrow.bool_()),
        *((name, arrow.string()) for name in ("error", "answer")),
        ("usage", arrow.map_(arrow.string(), arrow.int64())),
        *((name, arrow.float64()) for name in ("dollars", "seconds")),
        *((name, arrow.string()) for name in ("session", "patch")),
        ("attempts", arrow.int64()),
        ("model", arrow.string()),
    ]
    parquet.write_table(arrow.Table.from_pylist([_row(each) for each in records], arrow.schema(columns)), new)
    new.replace(file)


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        from pi_core import install_command

        raise UserError(f"Parquet needs pyarrow, which is not installed: {install_command('parquet')}") from error


def _plain(name: str, value: Any) -> Any:
    """Return a value as in JSON lines, where a struct's null fields, which belong to other rows, are missing."""
    if name in ("files", "plugins") and isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value  # the check of the tasks reports what is wrong with it
    if name == "files" and isinstance(value, dict):
        return {path: text for path, text in value.items() if text is not None}
    return value


def _row(record: Record) -> dict[str, Any]:
    row = record.as_json()
    row["usage"] = [*row["usage"].items()]
    return row
