"""Tasks and results of ``pi batch`` in Parquet."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.command import run
from pi_batch.parquet import write_records
from pi_batch.record import Record
from pi_batch.tasks import BadTasks, Task, read_tasks
from pi_core import PluginHost, Settings
from pi_hookspecs import UserError

HERE = find_spec("pyarrow") is not None
needs_pyarrow = pytest.mark.skipif(
    not HERE, reason="needs pyarrow: uv run python tools/heavy_environments.py ray --test"
)


@pytest.mark.skipif(HERE, reason="pyarrow is there")
def test_without_pyarrow_it_is_said_what_to_install(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"")

    with pytest.raises(UserError, match=r"pip install .*'pluggypi\[parquet\]'"):
        read_tasks(tmp_path / "t.parquet")


def table(file, rows, **types):
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: [row.get(name) for row in rows] for row in rows for name in row}
    arrays = {name: pa.array(values, type=types.get(name)) for name, values in columns.items()}
    parquet.write_table(pa.table(arrays), file)


@needs_pyarrow
@pytest.mark.heavy
def test_files_and_plugins_may_be_nested_columns_or_json(tmp_path):
    import pyarrow as pa

    file = tmp_path / "t.parquet"
    row = {"id": 7, "prompt": "Hi {who}", "who": "Ann", "check": None}
    wanted = Task(id="7", prompt="Hi Ann", files={"a": "b"}, plugins=("x", "y"), extra={"who": "Ann"})

    table(file, [{**row, "files": {"a": "b"}, "plugins": ["x", "y"]}])
    assert read_tasks(file) == [wanted]
    table(file, [{**row, "files": '{"a": "b"}', "plugins": '["x", "y"]'}])
    assert read_tasks(file) == [wanted]
    kind = pa.map_(pa.string(), pa.string())
    table(file, [{**row, "files": [("a", "b")], "plugins": ["x", "y"]}], files=kind)
    assert read_tasks(file) == [wanted]
    table(file, [{"id": "a", "prompt": "x", "files": {"a": "b"}}, {"id": "b", "prompt": "x", "files": {"c": "d"}}])
    assert [each.files for each in read_tasks(file)] == [{"a": "b"}, {"c": "d"}]


@needs_pyarrow
@pytest.mark.heavy
def test_all_that_is_wrong_with_rows_is_named_at_once(tmp_path):
    table(tmp_path / "t.parquet", [{"id": "a", "prompt": "x"}, {"id": "a", "prompt": ""}, {"id": None, "prompt": "x"}])
    (tmp_path / "no.parquet").write_bytes(b"PAR1 and no more")

    with pytest.raises(BadTasks) as rows:
        read_tasks(tmp_path / "t.parquet")
    with pytest.raises(BadTasks) as damaged:
        read_tasks(tmp_path / "no.parquet")

    assert [each[:5] for each in rows.value.problems] == ["row 2", "row 2", "row 3"]
    assert "no.parquet' cannot be read" in str(damaged.value)


@needs_pyarrow
@pytest.mark.heavy
@given(answer=st.text(), usage=st.dictionaries(st.text("abc"), st.integers(0, 2**60)), score=st.none() | st.booleans())
def test_a_table_of_results_says_what_the_lines_say(tmp_path_factory, answer, usage, score):
    from pyarrow import parquet

    file = tmp_path_factory.mktemp("table") / "results.parquet"
    records = [Record(id="a", answer=answer, usage=usage, score=score, dollars=0.5), Record(id="b", error="no")]

    write_records(file, records)

    rows = parquet.read_table(file).to_pylist(maps_as_pydicts="strict")
    assert rows == [{**each.as_json()} for each in records]


@needs_pyarrow
@pytest.mark.heavy
def test_a_batch_from_parquet_to_parquet(tmp_path, monkeypatch):
    from pyarrow import parquet

    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "t.parquet", [{"id": "a", "prompt": "Count the words in n.txt", "files": {"n.txt": "one"}}])
    arguments = ["t.parquet", "--out", "out", "--model", "offline/rules", "--format", "parquet"]

    code = run(arguments, PluginHost(Settings.load(tmp_path), installed=False))

    assert code == 0
    lines = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert parquet.read_table(tmp_path / "out" / "results.parquet").to_pylist(maps_as_pydicts="strict") == lines
