"""MLflow logs a model and loads it again, where it is installed (make test-integrations)."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from eigencut import GPOD

MOONS = make_moons(200, noise=0.06, random_state=0)[0]


@pytest.fixture(scope="module")
def mlflow():
    return pytest.importorskip("mlflow", reason="make test-integrations installs mlflow-skinny")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_columns", [2, 64])
@pytest.mark.parametrize("form", ["cloudpickle", "skops"])
def test_logged_and_loaded(mlflow, form, n_columns, tmp_path, monkeypatch):
    """Both of its formats; the second is its default, and asks which types are trusted."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    X = MOONS if n_columns == 2 else make_blobs(300, n_columns, centers=2, random_state=0)[0]
    model = GPOD(2).fit(X)
    how = {"serialization_format": "cloudpickle"}
    if form == "skops":
        io = pytest.importorskip("skops.io")
        how = {"skops_trusted_types": io.get_untrusted_types(data=io.dumps(model))}
        assert all(name.startswith(("eigencut.", "scipy.")) for name in how["skops_trusted_types"])
    with mlflow.start_run():
        mlflow.log_params({name: str(value) for name, value in model.get_params().items()})
        kept = mlflow.sklearn.log_model(model, name="clusters", **how)
    loaded = mlflow.sklearn.load_model(kept.model_uri)
    assert (loaded.predict(X) == model.labels_).all()
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    served = mlflow.pyfunc.load_model(kept.model_uri)
    assert (np.asarray(served.predict(X)) == model.labels_).all()
