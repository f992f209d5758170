"""Files of older versions of the format load through one migration after the other."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.io.golden.make import MODELS, OLDEST

from eigencut import ModelFileError, load
from eigencut.io import model_format as file_format
from eigencut.io.model_format import (
    MIGRATIONS,
    VERSION,
    Migration,
    read,
    read_header,
    verified_header,
    write,
)

GOLDEN = Path(__file__).parent / "golden"


def golden(name):
    return GOLDEN / f"v1_{name}.eigencut"


def test_every_older_version_has_a_migration():
    assert set(MIGRATIONS) == set(range(1, VERSION))


@pytest.fixture
def format_2(monkeypatch):
    """A reader of format 2, which came to have labels from 1 and the number of them."""

    def content(old):
        return {**old, "first_label": 1}

    def arrays(old_content, old):
        assert "first_label" not in old_content, "the content must be that of the older version"
        return {path: a + 1 if path.endswith("labels") else a for path, a in old.items()}

    monkeypatch.setattr(file_format, "VERSION", 2)
    monkeypatch.setitem(MIGRATIONS, 1, Migration(content, arrays))


def test_what_is_read_is_what_the_new_version_would_hold(format_2):
    expected = json.loads(golden("landmarks").with_suffix(".json").read_text())
    header, arrays = read(golden("landmarks"))
    assert header.version == 1 and header.content["first_label"] == 1
    assert sorted(set(expected["predict"])) == [0, 1, 2]
    assert arrays["state.labels"].min() == 1 and arrays["state.labels"].max() == 3
    assert read_header(golden("landmarks")) == verified_header(golden("landmarks")) == header


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", OLDEST)
def test_older_files_load_through_all_versions_between(monkeypatch, name, mmap):
    """Format 2 keeps everything in another place, and format 3 puts it back where it was."""
    there = Migration(
        lambda old: {"packed": old},
        lambda content, old: {f"{content['model']['class']}.{path}": a for path, a in old.items()},
    )
    back = Migration(
        lambda old: old["packed"],
        lambda content, old: {
            path.removeprefix(f"{content['packed']['model']['class']}."): a
            for path, a in old.items()
        },
    )
    monkeypatch.setattr(file_format, "VERSION", 3)
    monkeypatch.setitem(MIGRATIONS, 1, there)
    monkeypatch.setitem(MIGRATIONS, 2, back)
    expected = json.loads(golden(name).with_suffix(".json").read_text())
    assert load(golden(name), mmap=mmap).predict(MODELS[name][2]).tolist() == expected["predict"]


@pytest.mark.parametrize("name", OLDEST)
def test_files_older_than_probabilities_get_their_temperature_from_the_margins(name):
    model = load(golden(name))
    header, _ = read(golden(name))
    assert "temperature" not in str(header.content)
    gpod = getattr(model, "model_", model)
    assert 0.12 <= gpod.fitted_cut_.temperature <= 0.32
    rows = MODELS[name][2]
    labels, found = model.predict(rows), model.predict_proba(rows)
    assert (found.argmax(axis=1) == labels)[labels >= 0].all()


def test_landmarks_from_before_contrast_have_none():
    affinity = load(golden("landmarks")).affinity_
    assert affinity.density_contrast == 0.0 and affinity.masses_ is None
    assert affinity.local_scale == 0.4 and not affinity.from_nearest


def test_landmarks_of_format_1_have_no_sums_and_say_so():
    model, X = load(golden("landmarks")), MODELS["landmarks"][2]
    assert model.affinity_.sums_ is None and model.cluster_numbers_.tolist() == [0, 1, 2]
    before = model.predict(X)
    for ask in (model.update, model.drift):
        with pytest.raises(ValueError, match="a file of format 1, which has none; fit it anew"):
            ask(X)
    assert (model.predict(X) == before).all()


def test_models_of_format_1_that_keep_rows_are_updated():
    for name in ("gaussian_local", "gaussian_number", "neighbors", "table"):
        model, X = load(golden(name)), MODELS[name][2]
        gpod = getattr(model.update(X), "model_", model)
        assert gpod.affinity_.n_rows_ == 24 + len(X)


def test_a_file_of_the_present_version_is_left_alone(format_2, tmp_path):
    write(tmp_path / "m", {"name": "é"}, {"labels": np.array([1, 2])})
    header, arrays = read(tmp_path / "m")
    assert header.version == 2 and header.content == {"name": "é"}
    assert arrays["labels"].tolist() == [1, 2]


def test_what_a_migration_cannot_read_is_refused(monkeypatch):
    monkeypatch.setattr(file_format, "VERSION", 2)
    monkeypatch.setitem(MIGRATIONS, 1, Migration(lambda old: old["nothing"]))
    for reader in (read, read_header, verified_header, load):
        with pytest.raises(ModelFileError) as caught:
            reader(golden("landmarks"))
        message = "cannot be loaded: it is not what eigencut writes in format 1."
        assert str(caught.value) == f"{golden('landmarks')} {message}"


def test_a_version_without_a_migration_is_no_fault_of_the_file(monkeypatch):
    monkeypatch.setattr(file_format, "VERSION", VERSION + 1)
    with pytest.raises(KeyError):
        load(golden("landmarks"))


@pytest.mark.parametrize("version", [0, 3])
def test_versions_that_never_were_are_refused(format_2, tmp_path, version):
    raw = bytearray(golden("landmarks").read_bytes())
    raw[8] = version
    (tmp_path / "m").write_bytes(raw)
    with pytest.raises(ModelFileError, match=f"has format {version}, and this eigencut reads form"):
        load(tmp_path / "m")
