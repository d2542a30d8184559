"""The shipped data are the published ones, generated data are what they claim, files are read or refused."""

import hashlib
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from anchorview.data.views import Views
from anchorview.datasets import hide_labels, load_handwritten, load_npz, make_multiview_subspaces

NG20 = Path(__file__).parents[3] / "shared" / "data" / "ng20.npz"


class TestHandwritten:
    def test_shapes_and_types(self):
        digits = load_handwritten()
        assert digits.view_names == ["fou", "fac", "kar", "pix", "zer", "mor"]
        assert [view.shape for view in digits.data] == [(2000, d) for d in (76, 216, 64, 240, 47, 6)]
        for view in digits.data:
            assert view.dtype == np.float64
            assert view.flags.c_contiguous and view.flags.writeable and view.base is None
        assert isinstance(digits.views, Views)
        assert "CC BY 4.0" in digits.DESCR and "10.24432/C5HC70" in digits.DESCR

    def test_classes(self):
        digits = load_handwritten()
        assert np.array_equal(digits.target, np.repeat(np.arange(10), 200))
        assert digits.target_names == [str(digit) for digit in range(10)]

    def test_values(self):
        fou, fac, kar, pix, zer, mor = load_handwritten().data
        assert fou[0, :4].tolist() == [0.065882, 0.19731, 0.10383, 0.27036]
        assert fac[0, :4].tolist() == [98, 236, 531, 673]
        assert kar[0, :4].tolist() == [-10.297, -11.667, 11.561, -2.0813]
        assert pix[0, :8].tolist() == [0, 3, 4, 4, 6, 6, 6, 6]
        assert zer[0, :4].tolist() == [0.011033, 0.83147, 15.352, 75.807]
        assert mor[0].tolist() == [1, 0, 0, 133.15, 1.3117, 1620.2]
        assert mor[-1].tolist() == [1, 1, 1, 133.92, 1.5646, 3808]

    def test_every_value(self):
        digest = hashlib.sha256()
        for view in load_handwritten().data:
            digest.update(view.astype("<f8").tobytes())
        assert digest.hexdigest() == "20aeed4611ee6b9b00ad67a082019993e1600547e80357106832c717b14dc984"

    def test_nothing_is_shared_between_calls(self):
        first = load_handwritten()
        for array in [*first.data, first.target]:
            array[:] = -7
        first.view_names.clear()
        second = load_handwritten()
        assert all((view != -7).any() for view in second.data)
        assert second.target.max() == 9 and len(second.view_names) == 6


class TestSubspaces:
    def test_form(self):
        made = make_multiview_subspaces(50, 3, (7, 5), dtype="float64", random_state=0)
        assert [view.shape for view in made.data] == [(50, 7), (50, 5)]
        assert all(view.dtype == np.float64 and view.flags.c_contiguous for view in made.data)
        assert made.target.shape == (50,) and set(made.target) == {0, 1, 2}
        assert made.view_names == ["view0", "view1"] and made.target_names == ["0", "1", "2"]
        assert isinstance(made.views, Views)
        assert make_multiview_subspaces(10, 2).data[0].dtype == np.float32

    def test_seed_decides(self):
        first, again, other = (make_multiview_subspaces(200, random_state=seed) for seed in (3, 3, 4))
        assert np.array_equal(first.target, again.target)
        for one, same, different in zip(first.data, again.data, other.data, strict=True):
            assert np.array_equal(one, same)
            assert not np.array_equal(one, different)
        rng = np.random.default_rng(3)
        drawn = [make_multiview_subspaces(200, random_state=rng) for _ in range(2)]
        assert np.array_equal(drawn[0].data[0], first.data[0])
        assert not np.array_equal(drawn[0].data[0], drawn[1].data[0])

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_rows_do_not_depend_on_their_number(self, dtype):
        """So many that they are made in several blocks, the last of which ends elsewhere."""
        whole = make_multiview_subspaces(9000, dtype=dtype, random_state=1)
        for n in (300, 5001):
            part = make_multiview_subspaces(n, dtype=dtype, random_state=1)
            assert np.array_equal(part.target, whole.target[:n])
            for short, long in zip(part.data, whole.data, strict=True):
                assert np.array_equal(short, long[:n])

    def test_clusters_are_affine_subspaces_with_shared_coordinates(self):
        made = make_multiview_subspaces(400, 3, (20, 15), subspace_dim=2, noise=0, dtype="float64", random_state=0)
        for cluster in range(3):
            centred = [view[made.target == cluster] for view in made.data]
            centred = [view - view.mean(axis=0) for view in centred]
            assert [np.linalg.matrix_rank(view) for view in centred] == [2, 2]
            assert np.linalg.matrix_rank(np.hstack(centred)) == 2

    @pytest.mark.parametrize("nonnegative", [False, True])
    def test_clusters_can_be_recovered(self, nonnegative):
        made = make_multiview_subspaces(600, noise=0, nonnegative=nonnegative, random_state=0)
        for view in made.data:
            model = LogisticRegression(max_iter=1000).fit(view[:300], made.target[:300])
            assert model.score(view[300:], made.target[300:]) > 0.9

    def test_nonnegative(self):
        made = make_multiview_subspaces(300, noise=0.5, nonnegative=True, random_state=0)
        assert min(view.min() for view in made.data) == 0

    def test_noise(self):
        clean = make_multiview_subspaces(2000, noise=0, random_state=0)
        noisy = make_multiview_subspaces(2000, view_noise=(0, 0.3, 2), random_state=0)
        assert np.array_equal(clean.target, noisy.target)
        errors = [np.std(b - a) for a, b in zip(clean.data, noisy.data, strict=True)]
        assert errors == pytest.approx([0, 0.3, 2], rel=0.02)

    def test_weights(self):
        made = make_multiview_subspaces(20_000, 3, (4,), weights=(1, 2, 7), random_state=0)
        assert np.bincount(made.target) / 20_000 == pytest.approx([0.1, 0.2, 0.7], abs=0.01)
        rare = make_multiview_subspaces(10, 3, (4,), weights=(1, 1, 1e9), random_state=0)
        assert set(rare.target) == {0, 1, 2}

    def test_memory(self):
        tracemalloc.start()
        made = make_multiview_subspaces(100_000, 5, (30, 20), subspace_dim=2, random_state=0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.3 * (sum(view.nbytes for view in made.data) + made.target.nbytes)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_samples": 3}, "n_samples is 3 and n_clusters is 5"),
            ({"n_clusters": 0}, "n_clusters must be an integer of at least 1; got 0"),
            ({"view_dims": ()}, "view_dims must be a sequence"),
            ({"view_dims": (5, 0)}, "each of view_dims must be an integer of at least 1; got 0"),
            ({"subspace_dim": 0}, "subspace_dim must be an integer of at least 1"),
            ({"noise": -1}, "not negative"),
            ({"view_noise": (0.1,)}, "1 numbers but there are 3 views"),
            ({"weights": (1, 2)}, "5 clusters"),
            ({"weights": (1, 1, 1, 1, 0)}, "positive"),
            ({"dtype": "int32"}, "float32"),
        ],
    )
    def test_errors(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            make_multiview_subspaces(**arguments)


class TestNpz:
    VIEWS = (np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((3, 4)))

    def save(self, folder, **changes):
        entries = {"v0": self.VIEWS[0], "v1": self.VIEWS[1], "y": [0, 1, 1], "view_names": ["a", "b"]}
        entries = {key: value for key, value in (entries | changes).items() if value is not None}
        np.savez(folder / "set.npz", **entries)
        return folder / "set.npz"

    def test_dense(self, tmp_path):
        path = self.save(tmp_path)
        for given_path in (path, str(path)):
            read = load_npz(given_path)
            assert read.view_names == ["a", "b"] and read.target.tolist() == [0, 1, 1]
            assert read.target_names == ["0", "1"]
            assert isinstance(read.views, Views)
            for view, saved in zip(read.data, self.VIEWS, strict=True):
                assert view.dtype == saved.dtype and np.array_equal(view, saved)

    def test_a_file_without_rows_is_refused(self, tmp_path):
        path = self.save(tmp_path, v0=self.VIEWS[0][:0], v1=self.VIEWS[1][:0], y=[])
        with pytest.raises(ValueError, match=r"set\.npz has no rows"):
            load_npz(path)

    @pytest.mark.parametrize("form", ["dense", "sparse"])
    def test_views_without_names_are_numbered(self, tmp_path, form):
        views = {} if form == "dense" else {"v0": None, "v1": None}
        path = self.save(tmp_path, view_names=None, **views)
        if form == "sparse":
            for number, view in enumerate(self.VIEWS):
                sparse.save_npz(tmp_path / f"set_v{number}.npz", sparse.csr_matrix(view))
        read = load_npz(path)
        assert read.view_names == ["v0", "v1"]
        assert [view.shape for view in read.data] == [(3, 2), (3, 4)]

    def test_sparse(self, tmp_path):
        path = self.save(tmp_path, v0=None, v1=None, classes=["cat", "dog"])
        for number, view in enumerate(self.VIEWS):
            sparse.save_npz(tmp_path / f"set_v{number}.npz", sparse.csr_matrix(view))
        read = load_npz(path)
        assert read.target_names == ["cat", "dog"]
        for view, saved in zip(read.data, self.VIEWS, strict=True):
            assert sparse.issparse(view) and view.format == "csr"
            assert np.array_equal(view.toarray(), saved)
        assert isinstance(read.views, Views) and read.views.names == ["a", "b"]
        assert all(sparse.issparse(view) for view in read.views.arrays)
        assert np.array_equal(read.views[1:].to_array(), np.hstack(self.VIEWS)[1:])

    @pytest.mark.skipif(not NG20.exists(), reason="the shared data are not on this machine")
    def test_newsgroups(self):
        read = load_npz(NG20)
        assert read.views.shape == (18_846, 23_655 + 4022 + 13_506 + 6701)
        assert all(sparse.issparse(view) for view in read.views.arrays)
        empty = [int((np.diff(view.indptr) == 0).sum()) for view in read.views.arrays]
        assert empty == [70, 463, 6827, 2]
        assert read.target.shape == (18_846,) and set(read.target) == set(range(20))

    def test_missing_files(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"none\.npz"):
            load_npz(tmp_path / "none.npz")
        with pytest.raises(FileNotFoundError, match=r"set_v0\.npz"):
            load_npz(self.save(tmp_path, v0=None, v1=None))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"y": None}, "no entry 'y'"),
            ({"view_names": None, "v0": None}, r"no entry 'v0', the first view, and there is no file .*set_v0\.npz"),
            ({"v1": None}, "names 2 views but has no entry 'v1'"),
            ({"v1": np.ones((2, 4))}, "View 'b' of .* has 2 rows but y has 3"),
        ],
    )
    def test_wrong_contents(self, tmp_path, changes, message):
        with pytest.raises(ValueError, match=message):
            load_npz(self.save(tmp_path, **changes))

    def test_not_an_npz_file(self, tmp_path):
        (tmp_path / "set.npz").write_text("v0,v1")
        with pytest.raises(ValueError, match="not an npz file"):
            load_npz(tmp_path / "set.npz")


class TestHideLabels:
    @settings(deadline=None, max_examples=60)
    @given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.data(), st.booleans(), st.integers(0, 9))
    def test_keeps_exactly_that_many(self, y, data, stratified, seed):
        n_labels = data.draw(st.integers(0, len(y)))
        hidden = hide_labels(y, n_labels=n_labels, stratified=stratified, random_state=seed)
        known = hidden != -1
        assert known.sum() == n_labels
        assert np.array_equal(hidden[known], np.array(y)[known])
        assert np.array_equal(hidden, hide_labels(y, n_labels=n_labels, stratified=stratified, random_state=seed))
        if stratified:
            kept, sizes = np.bincount(hidden[known], minlength=5), np.bincount(y, minlength=5)
            if n_labels >= (sizes > 0).sum():
                assert ((kept > 0) == (sizes > 0)).all()

    def test_stratified_is_proportional(self):
        y = np.repeat([0, 1, 2], [500, 300, 200])
        hidden = hide_labels(y, 0.1, stratified=True, random_state=0)
        assert np.bincount(hidden[hidden >= 0]).tolist() == [50, 30, 20]

    def test_uniform(self):
        times = sum(hide_labels(np.zeros(20, dtype=int), 0.25, random_state=s) == 0 for s in range(2000))
        assert times == pytest.approx(np.full(20, 500), abs=100)

    @pytest.mark.parametrize(
        ("fraction", "n", "kept"), [(0, 9, 0), (0.05, 2386, 119), (0.29, 100, 29), (0.01, 9, 1), (1, 9, 9)]
    )
    def test_fraction(self, fraction, n, kept):
        assert (hide_labels(np.zeros(n, dtype=int), fraction, random_state=0) == 0).sum() == kept

    def test_original_is_untouched(self):
        y = np.arange(10)
        hide_labels(y, 0.5)
        assert np.array_equal(y, np.arange(10))

    def test_types(self):
        words = hide_labels(np.array(["cat", "dog"] * 5), 0.3, random_state=0)
        assert words.dtype == object
        assert sum(label is None for label in words) == 7
        assert {label for label in words if label is not None} <= {"cat", "dog"}
        small = hide_labels(np.arange(5, dtype=np.uint8), n_labels=0)
        assert small.tolist() == [-1] * 5
        assert hide_labels(np.arange(5, dtype=np.int8), n_labels=0).dtype == np.int8
        mixed = hide_labels(np.array(["a", 1, "a"], dtype=object), n_labels=2, stratified=True)
        assert {label for label in mixed if label is not None} == {"a", 1}

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([0, 1],), "either fraction or n_labels"),
            (([0, 1], 0.5, 1), "either fraction or n_labels"),
            (([0, 1], 1.5), "fraction is 1.5"),
            (([0, 1], None, 3), "n_labels is 3 but must lie between 0 and 2"),
            (([0, -1], 0.5), "holds -1"),
            ((np.array(["a", None], dtype=object), 0.5), "holds None"),
            (([[0], [1]], 0.5), "shape"),
        ],
    )
    def test_errors(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            hide_labels(*arguments)
