"""MLflow logs a model and loads it again, where it is installed (make test-integrations)."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from eigencut import GPOD

X = make_moons(200, noise=0.06, random_state=0)[0]


@pytest.fixture(scope="module")
def mlflow():
    return pytest.importorskip("mlflow", reason="make test-integrations installs mlflow-skinny")


@pytest.mark.filterwarnings("ignore")
def test_logged_and_loaded(mlflow, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    model = GPOD(2).fit(X)
    with mlflow.start_run():
        mlflow.log_params({name: str(value) for name, value in model.get_params().items()})
        kept = mlflow.sklearn.log_model(model, name="clusters", serialization_format="cloudpickle")
    loaded = mlflow.sklearn.load_model(kept.model_uri)
    assert (loaded.predict(X) == model.labels_).all()
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    served = mlflow.pyfunc.load_model(kept.model_uri)
    assert (np.asarray(served.predict(X)) == model.labels_).all()
