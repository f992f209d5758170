"""Files of older versions of the format, which lack what came later."""

from pathlib import Path

import numpy as np
import pytest
from tests.io.golden.make import MODELS, OLDEST

from eigencut import ModelFileError, load
from eigencut.io.model_format import read, write

GOLDEN = Path(__file__).parent / "golden"


def golden(name):
    return GOLDEN / f"v1_{name}.eigencut"


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
        with pytest.raises(ValueError, match="a file of format 1, which has no sums; fit it again"):
            ask(X)
    assert (model.predict(X) == before).all()


def test_models_of_format_1_that_keep_rows_are_updated():
    for name in ("gaussian_local", "gaussian_number", "neighbors", "table"):
        model, X = load(golden(name)), MODELS[name][2]
        gpod = getattr(model.update(X), "model_", model)
        assert gpod.affinity_.n_rows_ == 24 + len(X)


def test_a_file_of_the_present_version_is_left_alone(tmp_path):
    write(tmp_path / "m", {"name": "é"}, {"labels": np.array([1, 2])})
    header, arrays = read(tmp_path / "m")
    assert header.version == 2 and header.content == {"name": "é"}
    assert arrays["labels"].tolist() == [1, 2]


@pytest.mark.parametrize("version", [0, 3])
def test_versions_that_never_were_are_refused(tmp_path, version):
    raw = bytearray(golden("landmarks").read_bytes())
    raw[8] = version
    (tmp_path / "m").write_bytes(raw)
    with pytest.raises(ModelFileError, match=f"has format {version}, and this eigencut reads form"):
        load(tmp_path / "m")
