"""Files with right checksums and hostile content: refused with a sentence, or harmless."""

import time
import tracemalloc
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from tests.io.golden.make import MODELS, OLDEST

from eigencut import (
    GPOD,
    Gaussian,
    Landmarks,
    ModelFileError,
    Neighbors,
    RankedNeighbors,
    TableModel,
    load,
)
from eigencut._utils.running import threads
from eigencut.inspection import assess
from eigencut.inspection.leaving import leaving_share
from eigencut.io.model_format import read, write

pytestmark = [
    pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

GOLDEN = Path(__file__).parent / "golden"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2)) + 5 * RNG.integers(0, 3, (400, 1))
FAR = np.array([[1e3, -1e3], [1e200, 0.0], [-1e308, 1e308], [0.0, 0.0]])

# What numbers of a file are replaced by.
NASTY = [0.0, -1.0, 1e-320, 3e155, -1e308]


def saved(model, path):
    model.save(path)
    header, arrays = read(path)
    return deepcopy(header.content), dict(arrays)


def refused_or_harmless(path, new):
    """Loading ends in one sentence, or in a model whose answers are labels and finite numbers."""
    try:
        model = load(path)
    except ModelFileError as error:
        assert "\n" not in str(error) and len(str(error)) < 400 + len(str(path))
        return False
    try:
        labels, embedding = model.predict(new), model.transform(new)
    except ValueError as error:
        assert "\n" not in str(error)
        return False
    gpod = model.model_ if isinstance(model, TableModel) else model
    assert labels.shape == (len(new),) and -1 <= labels.min() <= labels.max() < gpod.n_clusters_
    assert not np.isnan(embedding).any() and not np.isnan(model.score_samples(new)).any()
    return True


def without_sums(state, arrays):
    """As of a file that keeps no sums for updates, which would have to agree with the rest."""
    state.pop("sums")
    return {place: array for place, array in arrays.items() if ".sums." not in place}


def models():
    contrast = Neighbors(8, index="approximate", density_contrast=1.0)
    return {
        **{name: (GOLDEN / f"v1_{name}.eigencut", MODELS[name][2]) for name in OLDEST},
        "contrast": (GPOD(3, affinity=contrast), np.vstack([X[:5], FAR])),
        "ratiocut": (GPOD(3, cut="ratiocut", affinity="gaussian"), np.vstack([X[:5], FAR])),
        "landmarks in a tree": (GPOD(3, affinity=Landmarks(70)), np.vstack([X[:5], FAR])),
    }


def numbers_in(tree):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from numbers_in(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield tree, name


@pytest.fixture
def one_thread():
    """Starting threads for so few rows takes longer than what they do."""
    with threads(1):
        yield


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", list(models()))
def test_numbers_are_bounded(name, tmp_path):
    model, new = models()[name]
    path = tmp_path / "m"
    if isinstance(model, GPOD):
        content, arrays = saved(model.fit(X[:160]), path)
    else:
        header, arrays = read(model)
        content = deepcopy(header.content)
    write(path, content, arrays)
    assert refused_or_harmless(path, new)
    for place, array in arrays.items():
        for number in NASTY:
            for where in (slice(None), slice(1)):
                changed = array.copy()
                changed.reshape(-1)[where] = np.asarray(number).astype(array.dtype)
                write(path, content, {**arrays, place: changed})
                refused_or_harmless(path, new)
    for tree, place in numbers_in(content["model"]):
        before = tree[place]
        for number in [2**19, 2**53, 2**80, *NASTY]:
            tree[place] = number
            write(path, content, arrays)
            refused_or_harmless(path, new)
        tree[place] = before


def test_landmarks_that_no_tree_can_search(tmp_path):
    """Squares of such distances are infinite, and a tree then answers with the number n."""
    content, arrays = saved(GPOD(3, affinity=Landmarks(100)).fit(X), tmp_path / "m")
    of_affinity = "state.affinity.state"
    state = content["model"]["state"]["affinity"]["state"]
    factor = 2**19 / state["n_rows"]
    arrays = without_sums(state, arrays)
    state["n_rows"] = 2**19
    arrays[f"{of_affinity}.multiplicity"] = arrays[f"{of_affinity}.multiplicity"] * factor
    state["largest_weight"] = 1e9
    for name in ("labels", "embedding"):
        arrays.pop(f"state.{name}")
    for size in (3e155, 1e308, 1e-310):
        arrays[f"{of_affinity}.landmarks"] = size * np.random.default_rng(0).random((100, 2))
        write(tmp_path / "m", content, arrays)
        assert refused_or_harmless(tmp_path / "m", np.vstack([X, FAR, X / 20 * size]))


def test_a_number_of_rows_costs_nothing(tmp_path):
    affinity = Landmarks(10, density_contrast=0.0)
    content, arrays = saved(GPOD(2, affinity=affinity).fit(X), tmp_path / "m")
    p, K = 5000, 2
    state, place = content["model"]["state"], "state.affinity.state"
    without_sums(state["affinity"]["state"], arrays)
    state["affinity"]["state"] |= {"n_rows": 2**45, "largest_weight": 1e9}
    rng = np.random.default_rng(0)
    arrays = {
        "state.degrees": np.ones(p),
        "state.rotation": np.eye(K),
        "state.rotation_of_extension": np.eye(K),
        **{name: array for name, array in arrays.items() if "history" in name},
        "state.pairs.values": np.zeros(K),
        "state.pairs.vectors": rng.normal(size=(p, K)),
        "state.pairs.products": rng.normal(size=(p, K)),
        "state.pairs.takes_part": np.ones(p, dtype=np.uint8),
        f"{place}.multiplicity": np.full(p, 2.0**45 / p),
        f"{place}.self_weights": np.ones(p),
        f"{place}.landmarks": rng.random((p, 2)),
    }
    write(tmp_path / "m", content, arrays)
    tracemalloc.start()
    start = time.process_time()
    model = load(tmp_path / "m")
    assert model.predict(rng.random((20_000, 2))).shape == (20_000,)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6 and time.process_time() - start < 4


def nested(depth):
    inner = {"class": "GPOD", "parameters": {"n_clusters": 2}}
    for _ in range(depth):
        inner = {"class": "GPOD", "parameters": {"n_clusters": 2, "affinity": inner}}
    return inner


@pytest.mark.parametrize("depth", [1, 14, 50])
@pytest.mark.parametrize("where", ["parameters", "state", "table"])
def test_only_an_affinity_stands_where_an_affinity_does(depth, where, tmp_path):
    """Models within models, whose text doubles with each, took minutes to be refused."""
    content, arrays = saved(GPOD(2, affinity=Landmarks(10)).fit(X), tmp_path / "m")
    if where == "parameters":
        content["model"]["parameters"]["affinity"] = nested(depth)
    elif where == "state":
        content["model"]["state"]["affinity"] |= nested(depth)
    else:
        content["model"], arrays = {"class": "TableModel", "state": {}}, {}
        content["model"]["parameters"] = {"model": nested(depth)}
    write(tmp_path / "m", content, arrays)
    start = time.process_time()
    with pytest.raises(ModelFileError, match=r"must be of kind Affinity\. Got GPOD") as caught:
        load(tmp_path / "m")
    assert time.process_time() - start < 1 and len(str(caught.value)) < 400


def test_no_more_rows_are_outside_than_were_judged(tmp_path):
    content, arrays = saved(GPOD(2, affinity=Landmarks(10)).fit(X), tmp_path / "m")
    content["model"]["state"]["n_outside"] = 2**64
    write(tmp_path / "m", content, arrays)
    with pytest.raises(ModelFileError, match="n_outside must be a number from 0 to 400"):
        load(tmp_path / "m")


def test_objects_stand_only_where_a_class_has_them(tmp_path):
    content, arrays = saved(GPOD(2, affinity=Landmarks(10)).fit(X), tmp_path / "m")
    content["model"]["parameters"]["cut"] = nested(0)
    write(tmp_path / "m", content, arrays)
    with pytest.raises(ModelFileError, match=r"parameters\.cut must be a number or a word"):
        load(tmp_path / "m")


def test_what_is_refused_is_said_in_short_and_on_one_line(tmp_path):
    content, arrays = saved(GPOD(2, affinity=Landmarks(10)).fit(X), tmp_path / "m")
    for name, value in (("cut", "x" * 10**6), ("n\nx\x1b[31m", 1)):
        changed = deepcopy(content)
        changed["model"]["parameters"][name] = value
        write(tmp_path / "m", changed, arrays)
        with pytest.raises(ModelFileError) as caught:
            load(tmp_path / "m")
        assert len(str(caught.value)) < 400 + len(str(tmp_path)) and str(caught.value).isprintable()


def test_an_index_is_one_that_can_be_used(tmp_path):
    model = GPOD(2, affinity=Neighbors(8, metric="manhattan", index="brute")).fit(X)
    content, arrays = saved(model, tmp_path / "m")
    content["model"]["state"]["affinity"]["state"]["index"] = "approximate"
    write(tmp_path / "m", content, arrays)
    with pytest.raises(ModelFileError, match="index must be one of kdtree, brute"):
        load(tmp_path / "m")


@pytest.mark.parametrize("affinity", [Gaussian(1.0), Landmarks(20), Neighbors(8)], ids=repr)
def test_the_affinity_among_the_parameters_is_checked_too(affinity, tmp_path):
    """It is not what was fitted, and pictures of the model ask for its metric."""
    content, arrays = saved(GPOD(2, affinity=affinity).fit(X), tmp_path / "m")
    content["model"]["parameters"]["affinity"]["parameters"]["metric"] = "Gaussian"
    write(tmp_path / "m", content, arrays)
    with pytest.raises(ModelFileError, match="metric must be 'euclidean' or"):
        load(tmp_path / "m")


def test_degrees_have_finite_squares(tmp_path):
    content, arrays = saved(GPOD(2, affinity=Landmarks(20)).fit(X), tmp_path / "m")
    write(tmp_path / "m", content, arrays | {"state.degrees": arrays["state.degrees"] * 1e199})
    with pytest.raises(ModelFileError, match="degrees must be from 0 to"):
        load(tmp_path / "m")


@pytest.mark.parametrize("degree", [0.0, 5e-324, 1e-300, 1e-150])
@pytest.mark.parametrize("affinity", [Gaussian(1.0), Landmarks(20), Neighbors(8)], ids=repr)
def test_averages_are_no_larger_than_what_they_are_of(affinity, degree, tmp_path):
    content, arrays = saved(GPOD(2, affinity=affinity).fit(X), tmp_path / "m")
    for where in (slice(None), slice(1)):
        changed = arrays["state.degrees"].copy()
        changed[where] = degree
        write(tmp_path / "m", content, arrays | {"state.degrees": changed})
        with pytest.raises(ModelFileError, match="products must be averages of vectors"):
            load(tmp_path / "m")


@pytest.mark.parametrize(
    "affinity", [Gaussian("local"), Neighbors(8), RankedNeighbors(8)], ids=repr
)
@pytest.mark.parametrize("n_equal", [2, 100])
def test_rows_that_are_equal_do_no_harm(affinity, n_equal, tmp_path):
    """A fit keeps each row once. Of such a file, too, everything that is known can be said."""
    content, arrays = saved(GPOD(2, affinity=affinity).fit(X[:100]), tmp_path / "m")
    rows = arrays["state.affinity.state.rows"].copy()
    rows[:n_equal] = rows[0]
    write(tmp_path / "m", content, arrays | {"state.affinity.state.rows": rows})
    assert refused_or_harmless(tmp_path / "m", X)
    model = load(tmp_path / "m")
    for summary in (assess(model), assess(model, X[100:200])):
        assert 0 <= summary.ambiguous <= 1 and "nan" not in str(summary)
    assert (leaving_share(model, X[100:200]).high <= 1).all()
