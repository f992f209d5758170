"""Models in files: what is loaded is what was saved, and what is not a model is refused."""

import json
import pickle
from copy import deepcopy
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel
from tests.io.golden.make import MODELS, NEW, SINCE, TRAINING

from eigencut import (
    GPOD,
    Gaussian,
    Kernel,
    Landmarks,
    ModelFileError,
    Neighbors,
    TableModel,
    load,
)
from eigencut.io.model_format import VERSION, read, write
from eigencut.io.rows import Rows
from eigencut.io.state_reader import save_model

GOLDEN = Path(__file__).parent / "golden"
MANY = np.random.default_rng(2).normal(size=(4000, 2)) * 4
FAR = np.array([[1e3, -1e3], [1e200, 0.0], [-0.0, 0.0]])
VARIANTS = {
    "auto": GPOD(3),
    "local": GPOD(3, affinity=Gaussian("local", n_neighbors=5, scale=0.8)),
    "median": GPOD(3, affinity=Gaussian("median", scale=0.3)),
    "number": GPOD(2, affinity=Gaussian(1.3), outliers="label", random_state=3),
    "ratiocut": GPOD(3, cut="ratiocut"),
    "algorithm 1": GPOD(3, cut="ratiocut", extension="paper", affinity=Gaussian(2.0)),
    "chosen K": GPOD("auto"),
    "landmarks": GPOD(3, affinity=Landmarks(12), outliers="label"),
    "neighbors": GPOD(3, affinity=Neighbors(8)),
    "mutual neighbors": GPOD(2, affinity=Neighbors(9, graph="mutual", weights="binary")),
    "neighbors by brute force": GPOD(2, affinity=Neighbors(9, metric="manhattan", index="brute")),
    "landmarks with sigma": GPOD(2, affinity=Landmarks(10, 2, sigma=0.8)),
}


@pytest.fixture(params=[False, True], ids=["read", "mapped"])
def mmap(request):
    return request.param


def same_bits(model, again, X):
    for method in ("predict", "transform", "score_samples", "predict_margin", "predict_proba"):
        expected, found = getattr(model, method)(X), getattr(again, method)(X)
        assert expected.dtype == found.dtype and expected.tobytes() == found.tobytes(), method


@pytest.mark.parametrize("model", VARIANTS.values(), ids=VARIANTS.keys())
def test_the_loaded_model_predicts_the_same_bits(tmp_path, model, mmap):
    model = clone(model).fit(np.vstack([TRAINING, TRAINING[:3]]))
    model.save(tmp_path / "m.eigencut")
    again = load(tmp_path / "m.eigencut", mmap=mmap)
    same_bits(model, again, np.vstack([MANY, TRAINING, FAR]))
    assert repr(again) == repr(model)
    assert (again.labels_ == model.labels_).all()
    assert (again.partition_.labels == model.partition_.labels).all()
    assert again.fitted_cut_.temperature == model.fitted_cut_.temperature
    assert again.predict_batch(NEW).labels.tobytes() == model.predict_batch(NEW).labels.tobytes()
    assert again.score(NEW) == model.score(NEW)


def test_many_features(tmp_path):
    """Where neighbours are found by brute force instead of a tree."""
    X = np.random.default_rng(0).normal(size=(300, 20))
    model = GPOD(3, affinity="gaussian").fit(X[:200])
    model.save(tmp_path / "m")
    same_bits(model, load(tmp_path / "m"), X)


def test_an_affinity_of_sparse_rows(tmp_path, mmap):
    X = sparse.csr_array(np.random.default_rng(0).poisson(0.6, size=(80, 30)).astype(float))
    affinity = Neighbors(10, index="brute")
    affinity.fit_graph(X[:60])
    save_model(affinity, tmp_path / "m")
    again, V = load(tmp_path / "m", mmap=mmap), np.eye(len(affinity.multiplicity_))
    expected, found = affinity.apply(X, V), again.apply(X, V)
    assert found.values.tobytes() == expected.values.tobytes()
    assert found.log_degrees.tobytes() == expected.log_degrees.tobytes()


@pytest.mark.parametrize("affinity", ["neighbors", "gaussian"])
def test_every_eigensolver_comes_back(tmp_path, affinity):
    """More vertices than LAPACK is used for."""
    X = np.random.default_rng(0).normal(size=(1500, 2))
    model = GPOD(3, affinity=affinity).fit(X)
    model.save(tmp_path / "m")
    same_bits(model, load(tmp_path / "m"), X[:200])


def test_a_gaussian_of_fewer_rows_than_neighbors(tmp_path):
    X = np.random.default_rng(0).normal(size=(15, 2))
    model = GPOD(2, affinity="gaussian").fit(X[:5])
    model.save(tmp_path / "m")
    same_bits(model, load(tmp_path / "m"), X)


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_approximate_neighbors(tmp_path):
    X = np.random.default_rng(0).normal(size=(900, 12))
    model = GPOD(2, affinity=Neighbors(10, index="approximate")).fit(X[:600])
    model.save(tmp_path / "m")
    same_bits(model, load(tmp_path / "m"), X)


def test_precomputed(tmp_path, mmap):
    model, training, new = MODELS["precomputed"]
    model = clone(model).fit(training)
    model.save(tmp_path / "m")
    new = np.vstack([new, np.zeros(len(training))])
    same_bits(model, load(tmp_path / "m", mmap=mmap), new)


def test_everything_fitted_comes_back(tmp_path):
    frame = pd.DataFrame(TRAINING, columns=["a", "é"])
    model = GPOD(3, affinity="gaussian", n_jobs=1, outlier_quantile=0.1).fit(frame)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.get_params() == model.get_params()
    assert again.feature_names_in_.tolist() == ["a", "é"]
    fitted = [name for name in vars(model) if name.endswith("_")]
    assert set(fitted) <= set(vars(again))
    for name in ("labels_", "embedding_", "eigenvalues_", "rotation_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes()
    partition, expected = again.partition_, model.partition_
    assert (partition.labels == expected.labels).all() and partition.converged
    assert partition.n_iter == expected.n_iter and partition.objective == expected.objective
    assert again.affinity_.sigma_ == model.affinity_.sigma_
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "b"}))


def test_a_loaded_model_can_be_saved_cloned_and_pickled(tmp_path, mmap):
    GPOD(3).fit(TRAINING).save(tmp_path / "m")
    again = load(tmp_path / "m", mmap=mmap)
    again.save(tmp_path / "m")  # over the file that it may be mapped to
    same_bits(again, load(tmp_path / "m"), MANY)
    same_bits(again, pickle.loads(pickle.dumps(again)), NEW)
    assert (clone(again).fit(TRAINING).labels_ == again.labels_).all()


def test_other_ways_to_keep_a_model_work_too(tmp_path):
    model = GPOD(3, affinity="gaussian").fit(TRAINING)
    model.affinity_.identical_vertices(NEW)
    joblib.dump(model, tmp_path / "m.joblib")
    same_bits(model, joblib.load(tmp_path / "m.joblib"), NEW)
    skops_io = pytest.importorskip("skops.io")
    skops_io.dump(model, tmp_path / "m.skops")
    ours = skops_io.get_untrusted_types(file=tmp_path / "m.skops")
    same_bits(model, skops_io.load(tmp_path / "m.skops", trusted=ours), NEW)


def test_a_table_model_keeps_columns_units_and_missing_values(tmp_path, mmap):
    frame = pd.DataFrame(TRAINING * [1.0, 1e6], columns=["b", "a"])
    frame.loc[3, "a"] = np.nan
    new = pd.DataFrame({"other": ["x", "y"], "a": [4e6, np.nan], "b": [0.0, 4.0]})
    for missing in ("drop", "median"):
        model = TableModel(GPOD(3), scale="minmax", missing=missing).fit(frame)
        model.save(tmp_path / "m")
        again = load(tmp_path / "m", mmap=mmap)
        assert isinstance(again, TableModel) and again.columns_ == ["b", "a"]
        assert again.get_params()["missing"] == missing
        assert again.labels_.tolist() == model.labels_.tolist()
        same_bits(model, again, new)


@pytest.mark.parametrize(
    ("version", "name"),
    [(v, name) for v in range(1, VERSION + 1) for name in MODELS if v >= SINCE.get(name, 1)],
)
def test_golden_files_stay_loadable(name, version):
    """Files written by earlier versions; labels are exact, the rest as far as BLAS agrees."""
    model = load(GOLDEN / f"v{version}_{name}.eigencut")
    expected = json.loads((GOLDEN / f"v{version}_{name}.json").read_text())
    new = MODELS[name][2]
    assert model.predict(new).tolist() == expected["predict"]
    assert model.score_samples(new) == pytest.approx(expected["score_samples"], rel=1e-9)


# -------------------------------------------------------------------------------- what is not saved


REFUSED = {
    "kernel": (
        GPOD(3, affinity=Kernel(laplacian_kernel)),
        "Only models and affinities of eigencut that are plain numbers can be saved. Got "
        "Kernel, which is Python code; instead of a kernel function, use affinity='precomputed' "
        "with the weights that it computes.",
    ),
    "function": (
        GPOD(3, affinity=laplacian_kernel),
        "Only models and affinities of eigencut that are plain numbers can be saved. Got "
        "Kernel, which is Python code; instead of a kernel function, use affinity='precomputed' "
        "with the weights that it computes.",
    ),
    "bandwidth": (
        GPOD(3, affinity=Gaussian(sigma=lambda X: np.ones(len(X)))),
        "sigma must be a number or a rule for a model to be saved or exported. Got a function, "
        "which is Python code; fit with sigma='local' or a number.",
    ),
    "random state": (
        GPOD(3, random_state=np.random.RandomState(0)),
        "random_state must be a number, a word or None for a model to be saved. Got RandomState, "
        "which is Python code; use another, or set_params(random_state=...).",
    ),
}


@pytest.mark.parametrize(("model", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_python_code_is_not_saved(tmp_path, model, message):
    with pytest.raises(ValueError) as caught:
        clone(model).fit(TRAINING).save(tmp_path / "m")
    assert str(caught.value) == message
    assert not list(tmp_path.iterdir())


def test_other_classes_are_not_saved(tmp_path):
    class Mine(GPOD):
        pass

    with pytest.raises(ValueError, match="Got Mine, which is Python code"):
        Mine(3).fit(TRAINING).save(tmp_path / "m")
    with pytest.raises(NotFittedError):
        GPOD(3).save(tmp_path / "m")


def test_training_rows_are_needed_by_a_gaussian(tmp_path):
    with pytest.raises(ValueError, match="include_training_data must be True with Gaussian"):
        model = GPOD(3, affinity="gaussian").fit(TRAINING)
        model.save(tmp_path / "m", include_training_data=False)


def test_landmarks_are_enough(tmp_path):
    model = GPOD(3, affinity=Landmarks(12)).fit(TRAINING)
    model.save(tmp_path / "m", include_training_data=False)
    again = load(tmp_path / "m")
    same_bits(model, again, MANY)
    assert not hasattr(again, "labels_") and not hasattr(again, "embedding_")
    n_numbers = sum(array.size for array in read(tmp_path / "m")[1].values())
    model.save(tmp_path / "m")
    assert sum(array.size for array in read(tmp_path / "m")[1].values()) == n_numbers + 24 * 4


def test_a_model_of_a_stream(tmp_path):
    model = GPOD(3, affinity=Landmarks(12)).fit(Rows.from_array(TRAINING))
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    same_bits(model, again, MANY)
    assert (again.partition_.labels == model.partition_.labels).all()


def test_precomputed_models_need_no_labels_of_training_rows(tmp_path):
    model, training, new = MODELS["precomputed"]
    model = clone(model).fit(training)
    model.save(tmp_path / "m", include_training_data=False)
    again = load(tmp_path / "m")
    same_bits(model, again, new)
    assert not hasattr(again, "labels_") and not hasattr(again, "embedding_")
    assert again.score(new) == model.score(new)


# ------------------------------------------------------------------------------- what is not loaded


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "m.eigencut"
    TableModel(GPOD(3, affinity=Gaussian("local"))).fit(TRAINING).save(path)
    return path


def test_two_hundred_random_corruptions(saved, tmp_path):
    good, rng, path = saved.read_bytes(), np.random.default_rng(0), tmp_path / "m"
    for i in range(200):
        bad = bytearray(good)
        if i % 4 == 0:  # cut off
            bad = bad[: rng.integers(0, len(bad))]
        elif i % 4 == 1:  # one bit
            bad[rng.integers(0, len(bad))] ^= 1 << int(rng.integers(0, 8))
        elif i % 4 == 2:  # some bytes
            start = int(rng.integers(0, len(bad) - 100))
            bad[start : start + 100] = rng.bytes(100)
        else:  # a piece missing
            start = int(rng.integers(0, len(bad)))
            del bad[start : start + int(rng.integers(1, 500))]
        path.write_bytes(bad)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
        assert path.read_bytes() == bad


def forged(saved, path, change):
    """A file with right checksums whose content is not what eigencut would write."""
    header, arrays = read(saved)
    content, arrays = deepcopy(header.content), dict(arrays)
    change(content["model"], arrays)
    write(path, content, arrays)
    return path


def set_in(tree, dotted, value):
    *groups, name = dotted.split(".")
    for group in groups:
        tree = tree[group]
    tree[name] = value


def value(dotted, new):
    return lambda model, arrays: set_in(model, dotted, new)


def array(dotted, new):
    return lambda model, arrays: arrays.update({dotted: np.asarray(new)})


G, A = "state.model", "state.model.state.affinity"  # the GPOD, and its affinity
HOSTILE = {
    "class of the system": (value("class", "os.system"), "class must be one of GPOD, Reclustered,"),
    "takes_part": (
        array(f"{G}.state.pairs.takes_part", np.full(24, 2, np.uint8)),
        "must be 0 or 1",
    ),
    "nobody": (array(f"{A}.state.multiplicity", np.zeros(24)), "multiplicity must be positive"),
    "class of pickle": (value(f"{A}.class", "builtins.eval"), "class must be one of GPOD"),
    "class no word": (value("class", ["GPOD"]), "class must be one of GPOD"),
    "affinity of the wrong kind": (
        value(f"{A}.class", "GPOD"),
        "affinity must be of kind Affinity",
    ),
    "model of the wrong kind": (
        lambda model, arrays: model["state"].update(
            model=model["state"]["model"]["state"]["affinity"]
        ),
        "has no place in the model",
    ),
    "unknown parameter": (value(f"{G}.parameters.hook", "x"), "unexpected keyword argument 'hook'"),
    "list as parameter": (
        value(f"{G}.parameters.n_init", [10]),
        "n_init must be a number or a word",
    ),
    "wrong parameter": (value(f"{G}.parameters.cut", "sharp"), "cut must be 'ncut' or 'ratiocut'"),
    "wrong affinity": (value(f"{G}.parameters.affinity", "rbf"), "affinity must be one of"),
    "wrong sigma": (value(f"{A}.parameters.sigma", -1), "sigma must be a positive number"),
    "wrong scale": (value("parameters.scale", "log"), "scale must be 'auto' or"),
    "no state": (lambda model, arrays: model.pop("state"), "has no place in the model"),
    "K too large": (value(f"{G}.state.n_clusters", 10**9), "must be an integer from 1 to"),
    "K a truth": (value(f"{G}.state.n_clusters", True), "must be an integer from 1 to"),
    "K another": (value(f"{G}.state.n_clusters", 2), "values must be numbers of shape (2)"),
    "form": (value(f"{G}.state.form", "__init__"), "form must be one of consistent, algorithm1"),
    "n_rows": (value(f"{A}.state.n_rows", 10**12), "multiplicity must add up to n_rows"),
    "n_rows negative": (value(f"{A}.state.n_rows", -1), "n_rows must be a number from 0"),
    "exponent": (value(f"{A}.state.exponent", 10**6), "must be an integer from -1100 to 1100"),
    "width a word": (value(f"{A}.state.width", "1"), "width must be a number"),
    "k": (value(f"{A}.state.local.k", 0), "k must be an integer from 2"),
    "most below least": (value(f"{A}.state.local.most", 0.0), "most must be a number"),
    "columns": (value("state.columns", ["x1"]), "columns must be 2 different names"),
    "same columns": (value("state.columns", ["x1", "x1"]), "columns must be 2 different names"),
    "columns no names": (value("state.columns", [1, 2]), "columns must be 2 different names"),
    "feature names": (value(f"{G}.state.feature_names", "ab"), "must be 2 different names"),
    "converged": (value(f"{G}.state.partition.converged", 1), "must be true or false"),
    "array for a number": (array(f"{A}.state.width", [1.0]), "has no place in the model"),
    "array in nothing": (array("no.where", [1.0]), "has no place in the model"),
    "array missing": (lambda m, arrays: arrays.pop(f"{A}.state.rows"), "rows is missing"),
    "rows of NaN": (array(f"{A}.state.rows", np.full((24, 2), np.nan)), "Got NaN or infinity"),
    "rows of integers": (array(f"{A}.state.rows", np.ones((24, 2), int)), "and type <f8"),
    "rows in one dimension": (array(f"{A}.state.rows", np.ones(48)), "must be numbers of shape"),
    "too few rows": (
        array(f"{A}.state.rows", np.ones((3, 2))),
        "must be numbers of shape (24, any",
    ),
    "rotation": (array(f"{G}.state.rotation", np.eye(4)), "must be numbers of shape (3, 3)"),
    "labels too large": (array(f"{G}.state.labels", np.full(24, 7)), "must be from 0 to 2"),
    "labels too small": (array("state.labels", np.full(24, -2)), "must be from -1 to 2"),
    "labels as floats": (array(f"{G}.state.labels", np.ones(24)), "and type <i8"),
    "scale of zero": (array("state.scale", np.zeros(2)), "scale must be positive"),
    "scale of NaN": (array("state.scale", np.full(2, np.nan)), "Got NaN or infinity"),
}


@pytest.mark.parametrize(("change", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_models_are_refused(saved, tmp_path, change, message):
    path = forged(saved, tmp_path / "m", change)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert message in str(caught.value) and str(path) in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def paths_in(tree, path=()):
    for name, item in tree.items():
        yield (*path, name)
        if isinstance(item, dict):
            yield from paths_in(item, (*path, name))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.sampled_from(["GPOD", "Gaussian", "Kernel", "ncut", "auto"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(st.data())
def test_any_other_content_is_refused_or_harmless(saved, tmp_path_factory, data):
    """Checksums right, values anything: a model that predicts, or one sentence."""

    def change(model, arrays):
        for _ in range(data.draw(st.integers(1, 3))):
            if data.draw(st.booleans()):
                path = data.draw(st.sampled_from(sorted(paths_in(model))))
                place = model
                for group in path[:-1]:
                    place = place[group]
                place[path[-1]] = data.draw(JSON)
            else:
                name = data.draw(st.sampled_from(sorted(arrays)))
                shape = data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=2))
                number = data.draw(st.floats() | st.integers(-(2**31), 2**31))
                arrays[name] = np.full(shape, number)

    path = forged(saved, tmp_path_factory.mktemp("fuzz") / "m", change)
    try:
        model = load(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
    else:
        with np.errstate(all="ignore"):
            assert model.predict(np.zeros((2, 2))).shape == (2,)
    path.unlink()
