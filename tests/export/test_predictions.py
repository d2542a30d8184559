"""Predictions of any number of rows: streamed, written part by part, and continued after a crash."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from anchorview import FSSMSC, AnchorViewClassifier, Views, datasets, open_rows
from anchorview.core.locks import InUseError
from anchorview.engine.sources.base import SourceError
from anchorview.export import predict_to, save_results
from support import predict_slowly
from support.processes import started
from support.settled import SETTLED, settle
from support.stores import CountingRows

N_ROWS = 200


@pytest.fixture(scope="module")
def made(tmp_path_factory: Any) -> SimpleNamespace:
    """A model, and rows for it in a folder and in memory."""
    data = datasets.make_multiview_subspaces(N_ROWS, 3, (6, 4), random_state=0)
    y = np.array(["ape", "bee", "cow"])[data.target]
    model = FSSMSC(**SETTLED, n_landmarks=12, random_state=0, n_jobs=1).fit(data.views[:90], y[:90])
    folder = tmp_path_factory.mktemp("rows")
    for name, array in data.views.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    stored = Views({name: open_rows(folder / f"{name}.npy") for name in data.views.names})
    return SimpleNamespace(
        model=model, views=data.views, stored=stored, folder=folder, labels=model.predict(data.views)
    )


def test_predictions_from_stores_are_those_from_memory(made: Any) -> None:
    np.testing.assert_array_equal(made.model.predict(made.stored), made.labels)
    np.testing.assert_array_equal(made.model.predict_proba(made.stored), made.model.predict_proba(made.views))
    np.testing.assert_array_equal(made.model.transform(made.stored), made.model.transform(made.views))


def test_many_rows_are_predicted_in_chunks(made: Any) -> None:
    rows = np.random.default_rng(0).random((70_000, 2))
    model = settle(n_landmarks=4, random_state=0, n_jobs=1, solver__max_iter=2).fit(rows[:300], np.arange(300) % 2)
    source = CountingRows(rows)
    labels = model.predict([source])
    assert source.longest == 65_536 and (source.n_read == 1).all()
    np.testing.assert_array_equal(labels, np.concatenate([model.predict(rows[:40_000]), model.predict(rows[40_000:])]))
    rows[66_000, 1] = np.nan
    with pytest.raises(ValueError, match="in row 66000;"):
        model.predict([source])
    rows[66_000] = np.nan
    with pytest.raises(ValueError, match="no view at all: 66000;"):
        model.predict(rows)


def test_each_row_is_read_once(made: Any) -> None:
    rows = [CountingRows(array) for array in made.views.arrays]
    made.model.predict(rows)
    assert all((source.n_read + source.n_taken == 1).all() for source in rows)


@pytest.mark.parametrize("block_rows", [1, 33, 100, 1000])
def test_the_result_does_not_depend_on_the_blocks(made: Any, tmp_path: Path, block_rows: int) -> None:
    if block_rows == 1:
        made = SimpleNamespace(model=made.model, stored=made.stored[:9], labels=made.labels[:9], views=made.views[:9])
    done: list[tuple[int, int]] = []
    path = predict_to(
        made.model,
        made.stored,
        tmp_path / "out",
        block_rows=block_rows,
        probabilities=True,
        progress=lambda *now: done.append(now),
    )
    np.testing.assert_array_equal(np.load(path / "label.npy"), made.labels)
    expected = made.model.predict_proba(made.views)
    # Some kernels of BLAS round a product of few rows otherwise than one of many: single precision, not the blocks.
    np.testing.assert_allclose(np.load(path / "probability.npy"), expected, atol=1e-5)
    np.testing.assert_allclose(np.load(path / "confidence.npy"), expected.max(axis=1), atol=1e-5)
    n_rows = len(made.labels)
    assert done[-1] == (n_rows, n_rows) and len(done) == -(-n_rows // block_rows)
    assert [item.name for item in tmp_path.iterdir()] == ["out"]


def test_one_parquet_file_with_ids(made: Any, tmp_path: Path) -> None:
    views = Views(made.stored, ids=[f"row{number}" for number in range(N_ROWS)])
    table = pq.read_table(predict_to(made.model, views, tmp_path / "out.parquet", block_rows=70))
    assert table.column_names == ["id", "label", "confidence"]
    assert table.column("id").to_pylist() == views.ids.tolist()
    np.testing.assert_array_equal(table.column("label").to_pylist(), made.labels)


def test_a_work_that_is_killed_twice_goes_on_where_it_stopped(made: Any, tmp_path: Path) -> None:
    """By SIGKILL, as by the system: what was done stays, and the result is that of a work that was let alone."""
    result, parts = tmp_path / "out.parquet", tmp_path / "out.parquet.parts"
    command = [sys.executable, str(Path(predict_slowly.__file__)), str(made.folder), str(result), "slowly"]
    for kept in (1, 3):
        with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdin is not None
            while process.stdout.readline() != f"{40 * kept}\n":
                process.stdin.write("\n")
                process.stdin.flush()
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert not result.exists()
        assert len(list(parts.glob("part-*"))) == kept
    before = {path.name: path.stat().st_mtime_ns for path in parts.glob("part-*")}
    calls: list[int] = []

    def look(done: int, _: int) -> None:
        calls.append(done)
        assert all((parts / name).stat().st_mtime_ns == changed for name, changed in before.items())

    predict_to(made.model, made.stored, result, block_rows=40, progress=look)
    assert calls == [40, 80, 120, 160, 200]
    table = pq.read_table(result)
    np.testing.assert_array_equal(table.column("label").to_pylist(), made.labels)
    whole = predict_to(made.model, made.stored, tmp_path / "whole.parquet", block_rows=40)
    assert pq.read_table(whole).equals(table)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["out.parquet", "whole.parquet"]


def test_a_second_process_is_told_who_predicts_to_the_same_path(made: Any, tmp_path: Path) -> None:
    result = tmp_path / "out"
    command = [sys.executable, str(Path(predict_slowly.__file__)), str(made.folder), str(result), "slowly"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "40\n"
        with pytest.raises(InUseError, match=rf"Another process is writing {result} \(process {process.pid} on "):
            predict_to(made.model, made.stored, result, block_rows=40)
    predict_to(made.model, made.stored, result, block_rows=40)  # the other was killed
    np.testing.assert_array_equal(np.load(result / "label.npy"), made.labels)


@pytest.mark.parametrize("name", ["out", "out.parquet"])
@pytest.mark.parametrize("when", ["while it is put together", "before its parts are removed"])
def test_a_work_that_is_killed_at_its_end(made: Any, tmp_path: Path, name: str, when: str) -> None:
    """The next call puts the parts together, or finds that this is done; none is predicted again, nothing is left."""
    result = tmp_path / name
    command = [sys.executable, str(Path(predict_slowly.__file__)), str(made.folder), str(result), when]
    assert subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == -signal.SIGKILL
    assert result.exists() == (when == "before its parts are removed")
    assert len(list((tmp_path / f"{name}.parts").glob("part-*"))) == 5
    model = copy.copy(made.model)
    model._iter_rows = None  # not to be called
    predict_to(model, made.stored, result, block_rows=40)
    found = np.load(result / "label.npy") if name == "out" else pq.read_table(result).column("label").to_pylist()
    np.testing.assert_array_equal(found, made.labels)
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_results_of_a_fit_that_was_killed_while_it_wrote_them(made: Any, tmp_path: Path) -> None:
    code = "import os, pickle, signal, sys; from anchorview.export import columns, save_results\n"
    code += "columns.NewFolder.finish = lambda self: os.kill(os.getpid(), signal.SIGKILL)\n"
    code += "save_results(pickle.loads(open(sys.argv[1], 'rb').read()), sys.argv[2])"
    command = [sys.executable, "-c", code, str(made.folder / "model.pkl"), str(tmp_path / "out")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert sorted(item.name for item in tmp_path.iterdir()) == [".out.lock", ".out.part"]
    save_results(made.model, tmp_path / "out")
    assert [item.name for item in tmp_path.iterdir()] == ["out"]


class StopError(Exception):
    pass


def stop_after(n_rows: int) -> Any:
    def stop(done: int, _: int) -> None:
        if done >= n_rows:
            raise StopError

    return stop


def test_parts_of_another_work_are_refused(made: Any, tmp_path: Path) -> None:
    path = tmp_path / "out"
    with pytest.raises(StopError):
        predict_to(made.model, made.stored, path, block_rows=50, progress=stop_after(100))
    other = FSSMSC(**SETTLED, n_landmarks=10, random_state=0, n_jobs=1).fit(made.views[:90], made.labels[:90])
    for model, views, rows, what in (
        (other, made.stored, 50, "model"),
        (made.model, made.stored[::-1], 50, "source"),
        (made.model, made.stored, 60, "block_rows"),
    ):
        with pytest.raises(ValueError, match=rf"parts of another work, with another {what}: .*resume=False"):
            predict_to(model, views, path, block_rows=rows)
    assert len(list((tmp_path / "out.parts").glob("part-*"))) == 2  # as they were
    predict_to(other, made.stored, path, block_rows=50, resume=False)
    np.testing.assert_array_equal(np.load(path / "label.npy"), other.predict(made.views))


def test_nothing_of_the_users_is_replaced(made: Any, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.mkdir()
    (path / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="exists; choose another name, or pass overwrite=True"):
        predict_to(made.model, made.stored, path)
    with pytest.raises(FileExistsError, match=r"holds other files than results \(thesis.txt\)"):
        predict_to(made.model, made.stored, path, overwrite=True)
    with pytest.raises(FileNotFoundError, match="There is no folder .*nowhere"):
        predict_to(made.model, made.stored, tmp_path / "nowhere" / "out")
    (tmp_path / "new.parts").mkdir()
    (tmp_path / "new.parts" / "spare.txt").write_text("")
    with pytest.raises(FileExistsError, match="holds other files: spare.txt; move them"):
        predict_to(made.model, made.stored, tmp_path / "new")
    assert (path / "thesis.txt").read_text() == "years of work"
    first = predict_to(made.model, made.stored, tmp_path / "good")
    predict_to(made.model, made.stored[:50], first, overwrite=True)
    assert len(np.load(first / "label.npy")) == 50


def test_a_store_that_changes_ends_the_work(made: Any, tmp_path: Path) -> None:
    for name, array in made.views.items():
        np.save(tmp_path / f"{name}.npy", array)
    views = Views({name: open_rows(tmp_path / f"{name}.npy") for name in made.views.names})

    def change(done: int, _: int) -> None:
        np.save(tmp_path / f"{views.names[0]}.npy", made.views.arrays[0] + 1)

    with pytest.raises(SourceError, match=r"\.npy has changed since it was opened"):
        predict_to(made.model, views, tmp_path / "out", block_rows=50, progress=change)
    assert not (tmp_path / "out").exists()
    again = Views({name: open_rows(tmp_path / f"{name}.npy") for name in made.views.names})
    with pytest.raises(ValueError, match="parts of another work, with another source"):
        predict_to(made.model, again, tmp_path / "out", block_rows=50)


def test_rows_without_any_view_and_values_that_are_not_finite(made: Any, tmp_path: Path) -> None:
    mask = np.ones((N_ROWS, 2), dtype=bool)
    mask[150] = False
    views = Views(made.stored, mask=mask)
    with pytest.raises(ValueError, match=r"In rows 100 to 199, .*: 1 row has no view at all: 50;"):
        predict_to(made.model, views, tmp_path / "out", block_rows=100)
    model = FSSMSC(**SETTLED, n_landmarks=12, on_empty="drop", random_state=0, n_jobs=1)
    model.fit(made.views[:90], made.labels[:90])
    path = predict_to(model, views, tmp_path / "drop", block_rows=100)
    assert np.load(path / "label.npy")[150] == ""
    assert np.load(path / "confidence.npy")[150] == 0


def test_the_search_reads_and_predicts_stores_too(made: Any, tmp_path: Path) -> None:
    y = np.where(np.arange(90) % 3 == 0, made.labels[:90], "")
    search = AnchorViewClassifier(n_landmarks=12, scaling="minmax", n_averaged=1, n_repeats=1, random_state=0, n_jobs=1)
    search.fit(made.views[:90], y)
    with pytest.raises(StopError):
        predict_to(search, made.stored, tmp_path / "out", block_rows=50, progress=stop_after(100))
    again = pickle.loads(pickle.dumps(search))  # as a new process would read it
    path = predict_to(again, made.stored, tmp_path / "out", block_rows=50)
    np.testing.assert_array_equal(np.load(path / "label.npy"), search.predict(made.views))


@pytest.mark.parametrize("name", ["out", "out.parquet"])
def test_results_of_a_fit_as_files(made: Any, tmp_path: Path, name: str) -> None:
    path = save_results(made.model, tmp_path / name)
    if name == "out":
        found = {part: np.load(path / f"{part}.npy") for part in ("label", "confidence", "embedding")}
    else:
        table = pq.read_table(path)
        found = {part: table.column(part).to_numpy() for part in ("label", "confidence")}
        found["embedding"] = np.column_stack([table.column(f"embedding{k}").to_numpy() for k in range(3)])
    np.testing.assert_array_equal(found["label"], made.model.labels_)
    np.testing.assert_array_equal(found["confidence"], made.model.confidence_)
    np.testing.assert_array_equal(found["embedding"], made.model.embedding_)
    with pytest.raises(FileExistsError):
        save_results(made.model, path)
    assert [item.name for item in tmp_path.iterdir()] == [name]
