"""Input that was quietly misread, or not understood: absent views, odd numbers, malformed files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from anchorview import FSSMSC, AnchorViewClassifier, Constraints, Views, baselines, datasets
from anchorview.datasets._mat import load_mat
from support import processes
from support.mat_files import write_v5, write_v73
from support.settled import SETTLED

MADE = datasets.make_multiview_subspaces(120, 3, (6, 4), nonnegative=True, random_state=0)
A, B = MADE.data
Y = datasets.hide_labels(MADE.target, 0.3, random_state=0)
COLUMNS = [f"fou_{i}" for i in range(6)]
FRAME = pd.DataFrame(A, columns=COLUMNS, index=[f"a{row}" for row in range(120)])


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**SETTLED, "n_landmarks": 30, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def model() -> FSSMSC:
    return build().fit({"image": A, "text": B}, Y)


# A view that is not there


@pytest.mark.parametrize(
    "absent",
    [{"image": A}, {"image": A, "text": None}, [A, None], (A, None), Views({"image": A}), Views([A], names=["image"])],
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform"])
def test_an_absent_view_is_a_missing_one(model: FSSMSC, absent: Any, method: str) -> None:
    expected = getattr(model, method)({"image": A, "text": np.full_like(B, np.nan)})
    np.testing.assert_array_equal(getattr(model, method)(absent), expected)
    assert model.score(absent, MADE.target) == model.score([A, np.full_like(B, np.nan)], MADE.target)


def test_a_view_absent_from_a_table_is_a_missing_one(model: FSSMSC) -> None:
    expected = model.predict({"image": A})
    two_levels = pd.concat({"image": pd.DataFrame(A), "text": pd.DataFrame(B)}, axis=1)
    fitted = build().fit(two_levels, Y)
    np.testing.assert_array_equal(fitted.predict(two_levels[["image"]]), expected)
    names = {"image": COLUMNS, "text": ["x", "y", "z", "w"]}
    table = FRAME.reset_index(drop=True).join(pd.DataFrame(B, columns=names["text"]))
    cut = build(views=names).fit(table, Y)
    np.testing.assert_array_equal(cut.predict(table[COLUMNS]), expected)
    with pytest.raises(ValueError, match=r"X has none of the views of the fit, which were \['image', 'text'\]"):
        cut.predict(pd.DataFrame({"other": [1.0]}))


def test_an_absent_sparse_view_stays_sparse() -> None:
    words = sparse.random_array((120, 5_000), density=1e-2, format="csr", rng=np.random.default_rng(0))
    fitted = build().fit({"words": words, "image": A}, Y)
    told = Views({"words": words, "image": A}, mask={"words": np.zeros(120, dtype=bool)})
    np.testing.assert_array_equal(fitted.predict({"image": A}), fitted.predict(told))


def test_the_tuner_takes_absent_views_and_rivals_name_them() -> None:
    few = {"feature_strengths": (1.0,), "graph_strengths": (0.8,), "ridges": (), "l1s": (), "must_link_weights": ()}
    tuner = AnchorViewClassifier(n_landmarks=20, scaling="minmax", search_options=few, random_state=0)
    tuner.fit({"image": A, "text": B}, Y)
    gone = {"image": A, "text": np.full_like(B, np.nan)}
    np.testing.assert_array_equal(tuner.predict({"image": A}), tuner.predict(gone))
    with pytest.raises(ValueError, match=r"lack a view \('text'\), which this method does not support"):
        baselines.MVAR().fit({"image": A, "text": B}, Y).predict({"image": A})


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([A], r"pass a dict with some of the names \['image', 'text'\], or a list with None in the place"),
        ([None, None], r"X has none of the views of the fit, which were \['image', 'text'\]"),
        ({"image": None}, "X has none of the views of the fit"),
        ({}, "X has none of the views of the fit"),
        ([A, None, B], r"lists 3 views, some of them None, but the fit had 2: \['image', 'text'\]"),
        ({"sound": A}, r"views that were not in the fit: \['sound'\]; the fit had \['image', 'text'\]. Rename"),
        (np.hstack([A, B])[:, :9], "expecting 10 features as input .2 views: {'image': 6, 'text': 4}.* by name"),
        ([A, B[:, :3]], "view 'text' has 3 and was fitted with 4. Give the same columns"),
    ],
)
def test_errors_name_the_view_and_the_remedy(model: FSSMSC, X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.predict(X)


def test_a_fit_needs_all_its_views() -> None:
    for X in ([A, None], {"image": A, "view1": None}):
        with pytest.raises(ValueError, match="View 'view1' is None"):
            build().fit(X, Y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("step", ["fit", "predict"])
def test_errors_about_a_table_name_row_and_column(value: float, step: str) -> None:
    spoilt = FRAME.copy()
    spoilt.loc["a17", "fou_3"] = value
    fitted = build().fit({"fou": FRAME, "text": B}, Y)
    with pytest.raises(ValueError, match=r"view 'fou', row 17 \(index label 'a17'\), column 'fou_3'"):
        build().fit({"fou": spoilt, "text": B}, Y) if step == "fit" else fitted.predict({"fou": spoilt})


def test_errors_about_columns_name_them() -> None:
    fitted = build().fit({"fou": FRAME, "text": B}, Y)
    with pytest.raises(ValueError, match=r"columns of view 'fou' are not those .*: it lacks \['fou_4', 'fou_5'\]"):
        fitted.predict({"fou": FRAME.iloc[:, :4]})
    with pytest.raises(ValueError, match="now missing:\n- fou_4"):
        build().fit(FRAME, Y).predict(FRAME.iloc[:, :4])


# Odd numbers


@pytest.mark.parametrize("scaling", ["auto", "minmax", "symmetric", "standard", "l2", "tfidf", "lsa", "none"])
def test_half_precision_works(scaling: str) -> None:
    half = [A.astype(np.float16), B.astype(np.float16)]
    expected = build(scaling=scaling).fit([part.astype(np.float32) for part in half], Y)
    fitted = build(scaling=scaling).fit(half, Y)
    assert (fitted.labels_ == expected.labels_).mean() > 0.97
    assert fitted.predict(half).shape == (120,)


def test_half_precision_in_sparse_views_works() -> None:
    words = sparse.csr_array(A.astype(np.float32))
    expected = build().fit([words, B], Y).labels_
    half = words.copy()
    half.data = half.data.astype(np.float16)
    assert (build().fit([half, B], Y).labels_ == expected).mean() > 0.97


def test_long_doubles_beyond_float64_are_refused_by_name() -> None:
    wide = A.astype(np.longdouble)
    np.testing.assert_array_equal(build().fit([wide, B], Y).labels_, build().fit([A, B], Y).labels_)
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long double is float64 on this machine")
    wide[3, 2] = np.longdouble("1e400")
    for part in (wide, sparse.csr_array(wide)):
        with pytest.raises(ValueError, match="View 'image' holds .* beyond the range of float64.* row 3, column 2"):
            build().fit({"image": part, "text": B}, Y)
        with pytest.raises(ValueError, match="View 'image' holds .* beyond the range of float64"):
            build().fit({"image": A, "text": B}, Y).predict({"image": part, "text": B})


@pytest.mark.parametrize(
    ("value", "message"),
    [("3", "column 1, row 2 holds '3', which is text"), (10**400, "column 1, row 2 holds an integer too large")],
)
def test_objects_that_are_no_numbers_are_named(value: Any, message: str) -> None:
    objects = A.astype(object)
    objects[4] = None  # a row that is not there
    assert np.isnan(Views([objects]).arrays[0][4]).all()
    build().fit([objects, B], Y)
    objects[2, 1] = value
    with pytest.raises(ValueError, match=f"View 'image' is not numeric: {message}"):
        build().fit({"image": objects, "text": B}, Y)


@pytest.mark.parametrize("kind", ["datetime64[s]", "timedelta64[s]", "str", "bytes", "complex"])
def test_other_types_are_refused_by_name(kind: str) -> None:
    wrong = A.astype(int).astype(kind)
    with pytest.raises(ValueError, match="[Vv]iew 'image' is (not numeric|complex)"):
        build().fit({"image": wrong, "text": B}, Y)


# What was dropped, or taken for something else


def test_views_in_a_list_keep_what_they_know() -> None:
    has_image = np.arange(120) % 3 > 0
    part = Views([A], mask=has_image[:, None])
    joined = Views([part, B])
    np.testing.assert_array_equal(joined.present[:, 0], has_image)
    whole = Views([A, B], mask=np.column_stack([has_image, np.ones(120, dtype=bool)]))
    np.testing.assert_array_equal(build().fit([part, B], Y).labels_, build().fit(whole, Y).labels_)
    ids = [f"r{row}" for row in range(120)]
    assert Views({"a": Views([A], ids=ids), "b": B}).ids.tolist() == ids
    with pytest.raises(ValueError, match=r"View 'view0' is itself made of 2 views: \['a', 'b'\]"):
        Views([Views({"a": A, "b": B}), A])


def test_empty_bytes_are_no_class() -> None:
    names = np.array([b"ash", b"birch", b"cedar"])
    for given in (np.where(Y < 0, b"", names[Y]), np.where(Y < 0, b"", names[Y]).tolist()):
        assert build().fit(MADE.views, given).classes_.tolist() == names.tolist()


def test_sets_of_ids_and_groups_in_a_mapping_are_refused() -> None:
    with pytest.raises(TypeError, match="as ids; give a sequence"):
        Views([A[:2]], ids={"p", "q"})
    with pytest.raises(ValueError, match="given as a dict"):
        Constraints.from_groups(must={"p": 1})


# Files


@pytest.mark.parametrize("write", [write_v5, write_v73])
def test_labels_of_nan_in_a_file_are_refused(tmp_path: Path, write: Any) -> None:
    write(tmp_path / "gaps.mat", {"X": [A, B], "Y": np.where(Y < 0, np.nan, Y)[:, None]})
    first = int(np.argmax(Y < 0))
    with pytest.raises(ValueError, match=f"Y of .* holds nan as the label of 84 samples, .* sample {first} "):
        load_mat(tmp_path / "gaps.mat")
    np.savez(tmp_path / "gaps.npz", v0=A, y=np.where(Y < 0, np.nan, Y))
    with pytest.raises(ValueError, match="y of .* holds nan as the label of 84 samples"):
        datasets.load_npz(tmp_path / "gaps.npz")


def spoilt(kind: Any, fault: str) -> Any:
    matrix = kind(np.eye(6, 8))
    if fault == "beyond":
        matrix.indices[2] = 10**8
    elif fault == "negative":
        matrix.indices[2] = -5
    else:
        matrix.indptr[2] = 5
        matrix.indptr[3] = 1
    return matrix


FAULTS = ["beyond", "negative", "decreasing"]


def run(code: str, *arguments: Any) -> str:
    """Run in another process: what is refused here has crashed the interpreter."""
    return processes.run([sys.executable, "-c", code, *map(str, arguments)]).stdout


def test_malformed_sparse_matrices_in_files_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    paths = []
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        for fault in FAULTS:
            path = tmp_path / f"{kind.__name__}_{fault}.npz"
            np.savez(path, y=np.zeros(6))
            sparse.save_npz(path.with_name(f"{path.stem}_v0.npz"), spoilt(kind, fault), compressed=False)
            paths.append(path)
    for fault in FAULTS:
        paths.append(tmp_path / f"{fault}.mat")
        write_v73(paths[-1], {"X": [spoilt(sparse.csc_matrix, fault)], "Y": np.arange(6.0)[:, None]})
    code = """
import sys
from anchorview.datasets import load_npz
from anchorview.datasets._mat import load_mat
for path in sys.argv[1:]:
    try:
        (load_mat if path.endswith(".mat") else load_npz)(path)
    except ValueError as error:
        print("refused" if "malformed sparse matrix" in str(error) and path[:-4] in str(error) else error)
    else:
        print("taken", path)
"""
    assert run(code, *paths).splitlines() == ["refused"] * len(paths)
