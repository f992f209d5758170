"""The paper's data sets: read, generated, fetched, refused. Nothing is downloaded."""

from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from experiments.paper import datasets
from experiments.paper.datasets import UCI_SETS, load, paper_circles, paper_moons
from sklearn.utils import Bunch

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "paper"
needs_files = pytest.mark.skipif(
    not DATA.is_dir(), reason="the UCI files are not in ../shared/data/paper"
)
FROM_FILES = [name for name in UCI_SETS if name != "balance"]


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No folder, an empty cache, and no network."""

    def offline(*args, **kwargs):
        raise OSError("no network in tests")

    monkeypatch.delenv("EIGENCUT_DATA", raising=False)
    monkeypatch.setenv("EIGENCUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)


@needs_files
@pytest.mark.parametrize("name", FROM_FILES)
def test_files_are_known_by_their_checksum(name):
    found = datasets.load(name, data_dir=DATA)
    assert found.source == "file, checksum known"
    assert found.data.shape == (UCI_SETS[name].n_rows, UCI_SETS[name].n_features)
    assert len(found.feature_names) == found.data.shape[1]
    assert set(found.target) == set(range(len(found.target_names)))


@needs_files
def test_missing_values_are_nan_and_only_mammographic_has_them():
    # The set's description at UCI counts 2 + 5 + 31 + 48 + 76.
    missing = {name: int(np.isnan(load(name, DATA).data).sum()) for name in FROM_FILES}
    assert missing.pop("mammographic") == 162
    assert not any(missing.values())


def test_balance_is_generated_by_the_lever():
    found = load("balance")
    for row, target in zip(found.data, found.target, strict=True):
        left, right = row[0] * row[1], row[2] * row[3]
        assert found.target_names[target] == ("L" if left > right else "R" if left < right else "B")
    assert len({tuple(row) for row in found.data}) == 625


@needs_files
def test_balance_is_the_file():
    found = load("balance")
    pairs = zip(found.data, found.target, strict=True)
    ours = {(*map(int, x), str(found.target_names[t])) for x, t in pairs}
    lines = (DATA / "balance.data").read_text().split()
    # This copy has the columns of UCI's file in reverse: the class stands at the end.
    assert ours == {(*map(int, line.split(",")[-2::-1]), line[-1]) for line in lines}


def write_sonar(folder, n_rows=208, header=False):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    lines = [",".join(f"f{i}" for i in range(61))] if header else []
    for i in range(n_rows):
        values = ",".join(f"{v:.4f}" for v in rng.uniform(size=60))
        lines.append(f"{values},{'R' if i < 97 else 'M'}")
    (folder / "sonar.data").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("header", [False, True])
def test_another_file_of_the_right_shape_is_taken(tmp_path, header):
    write_sonar(tmp_path, header=header)
    found = load("sonar", tmp_path)
    assert found.source == "file, shape and classes known"
    assert found.feature_names[0] == ("f0" if header else "x1")


def test_a_file_of_another_shape_is_refused(tmp_path):
    write_sonar(tmp_path, n_rows=200)
    with pytest.raises(ValueError, match=r"sonar must have 208 rows, 60 features.*\(200, 60\)"):
        load("sonar", tmp_path)


def test_a_file_of_words_is_refused(tmp_path):
    (tmp_path / "sonar.data").write_text("1,2,R\n1,two,M\n")
    with pytest.raises(ValueError, match=r"sonar.data must hold rows of numbers.*two"):
        load("sonar", tmp_path)


def test_places_are_tried_in_order(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="OpenML did not send it"):
        load("sonar")
    write_sonar(tmp_path / "cache")
    assert load("sonar").source.startswith("file")
    monkeypatch.setenv("EIGENCUT_DATA", str(tmp_path))  # asked for, so the cache is no substitute
    with pytest.raises(FileNotFoundError, match=r"EIGENCUT_DATA must be a folder .*sonar\.data"):
        load("sonar")
    assert load("sonar", tmp_path / "cache").source.startswith("file")


@pytest.mark.parametrize("name", FROM_FILES)
def test_absent_and_offline_says_what_to_do(name):
    with pytest.raises(FileNotFoundError) as caught:
        load(name)
    for word in (name, "https://", f"{name}.data", "EIGENCUT_DATA", "--data"):
        assert word in str(caught.value)


def test_openml_is_asked_by_name_and_version_and_its_answer_checked(monkeypatch):
    asked = {}

    def fetch(name, *, version, data_home, **options):
        asked.update(name=name, version=version, data_home=data_home)
        n = asked.get("rows", 208)
        target = np.array(["Rock"] * 97 + ["Mine"] * (n - 97))
        return Bunch(data=np.zeros((n, 60)), target=target, feature_names=["a"] * 60)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    assert load("sonar").source == "OpenML sonar"
    assert (asked["name"], asked["version"]) == UCI_SETS["sonar"].openml
    assert datasets.cache_dir() in Path(asked["data_home"]).parents
    asked["rows"] = 150
    with pytest.raises(ValueError, match="must have 208 rows"):
        load("sonar")


def test_unknown_name():
    with pytest.raises(ValueError, match=r"name must be one of ionosphere.*Got 'iris'"):
        load("iris")


@pytest.mark.parametrize("make", [paper_circles, paper_moons])
def test_toys_are_two_classes_and_reproducible(make):
    (X, y), (again, _) = make(100, 3), make(100, 3)
    assert np.array_equal(X, again) and not np.array_equal(X, make(100, 4)[0])
    assert np.bincount(y).tolist() == [50, 50]
