"""--metric, --affinity, --neighbors, --sigma and --landmarks, on files."""

import warnings

import numpy as np
import pytest

from eigencut import GPOD, Gaussian, Landmarks, Neighbors, load
from eigencut.cli import main
from eigencut.cli.options import metric_names, unscaled_metrics
from eigencut.neighbors.metrics import METRICS
from metric_data import rows_for

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(metric, **more):
    X = rows_for(metric, **more)[0]
    np.save("data.npy", X)
    return X


def test_the_names_are_those_of_the_library():
    assert list(METRICS) == metric_names
    assert [name for name in METRICS if not METRICS[name].of_numbers] == unscaled_metrics


@pytest.mark.parametrize("metric", METRICS)
def test_the_command_line_does_what_python_does(metric):
    X = write(metric)
    assert main(f"fit data.npy -k 3 --scale none --metric {metric} -o m.eigencut".split()) == 0
    expected = GPOD(3, metric=metric, random_state=0).fit(X)
    assert (load("m.eigencut").labels_ == expected.labels_).all()
    assert main(["predict", "m.eigencut", "data.npy", "-o", "labels.npy"]) == 0
    assert (np.load("labels.npy").ravel() == expected.labels_).all()


@pytest.mark.parametrize(
    "options, expected",
    [
        ("--affinity gaussian", Gaussian()),
        ("--affinity gaussian --neighbors 7", Gaussian(n_neighbors=7)),
        ("--sigma 0.5", Gaussian(0.5)),
        ("--affinity neighbors", Neighbors()),
        ("--neighbors 12 --metric manhattan", Neighbors(12, metric="manhattan")),
        ("--affinity landmarks --metric cosine", Landmarks(metric="cosine")),
        (
            "--landmarks 40 --sigma 2 --metric chebyshev",
            Landmarks(40, sigma=2.0, metric="chebyshev"),
        ),
    ],
)
def test_which_affinity_is_fitted(options, expected):
    write("euclidean")
    assert main(f"fit data.npy -k 3 {options} -o m.eigencut".split()) == 0
    assert repr(load("m.eigencut").model_.affinity_) == repr(expected)


def test_directions_codes_sets_and_places_are_not_scaled():
    for metric, scale in {"cosine": "none", "hamming": "none", "manhattan": "auto"}.items():
        write(metric)
        assert main(f"fit data.npy -k 3 --metric {metric} -o m.eigencut".split()) == 0
        assert load("m.eigencut").scale == scale
    assert (
        main(
            [
                "fit",
                "data.npy",
                "-k",
                "3",
                "--metric",
                "cosine",
                "--scale",
                "standard",
                "-o",
                "m.eigencut",
            ]
        )
        == 0
    )
    assert load("m.eigencut").scale == "standard"


def test_landmarks_by_name_are_a_stream_too():
    X = write("haversine")
    assert (
        main(
            [
                "fit",
                "data.npy",
                "-k",
                "3",
                "--affinity",
                "landmarks",
                "--metric",
                "haversine",
                "-o",
                "m.eigencut",
            ]
        )
        == 0
    )
    expected = GPOD(3, affinity="landmarks", metric="haversine").fit(X)
    model = load("m.eigencut")
    assert not hasattr(model, "labels_") and (model.predict(X) == expected.labels_).all()


def test_select_by_a_metric(capsys):
    write("hamming")
    assert main(["select", "data.npy", "-k", "2-4", "--metric", "hamming"]) == 0
    assert "metric='hamming'" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options, message",
    [
        ("--metric l2", "'l2' is not one of"),
        ("--metric jaccard --scale minmax", "--scale minmax is not for --metric jaccard"),
        ("--affinity neighbors --sigma 1", "--sigma is not for neighbors; leave one out"),
        ("--affinity gaussian --landmarks 9", "--landmarks is not for gaussian"),
        ("--landmarks 9 --neighbors 9", "--neighbors is not for landmarks"),
    ],
)
def test_options_that_do_not_go_together(options, message, capsys):
    write("jaccard")
    assert main(f"fit data.npy -k 3 {options} -o m.eigencut".split()) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("metric", ["jaccard", "haversine"])
def test_rows_that_a_metric_refuses(metric, capsys):
    write("euclidean")
    assert main(f"fit data.npy -k 3 --metric {metric} -o m.eigencut".split()) != 0
    assert f"metric='{metric}'" in capsys.readouterr().err


def test_cosine_is_suggested_where_scaling_takes_the_length_of_unit_vectors(capsys):
    X = write("cosine")
    np.save("data.npy", X / np.linalg.norm(X, axis=1, keepdims=True))
    for options, is_said in [("", True), ("--metric cosine", False), ("--scale none", False)]:
        assert main(f"fit data.npy -k 3 {options} -o m.eigencut".split()) == 0
        assert ("Use --metric cosine" in " ".join(capsys.readouterr().err.split())) == is_said


def test_what_nobody_asked_for_is_not_said():
    X = np.arange(12.0).reshape(6, 2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="n_neighbors")
        for affinity in ("auto", Gaussian(), Gaussian(1.0, n_neighbors=50), Neighbors(7)):
            GPOD(2, affinity=affinity).fit(X)
