"""scikit-learn's metadata routing hands weights to GPOD where it is asked to."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigencut import GPOD, Gaussian

X, _ = make_blobs(90, centers=3, random_state=0)
WEIGHT = np.random.default_rng(0).uniform(0.2, 3.0, 90)


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def model(**asked):
    found = GPOD(3, affinity=Gaussian(2.0))
    return found.set_fit_request(sample_weight=asked["fit"]).set_score_request(
        sample_weight=asked["score"]
    )


def test_a_pipeline_hands_weights_on():
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, model(fit=True, score=True).set_params(affinity__sigma=0.5))
    pipeline.fit(X, sample_weight=WEIGHT)
    scaled = StandardScaler().fit_transform(X)
    alone = GPOD(3, affinity=Gaussian(0.5)).fit(scaled, sample_weight=WEIGHT)
    assert np.array_equal(pipeline[-1].eigenvalues_, alone.eigenvalues_)
    expected = alone.score(scaled, sample_weight=WEIGHT)
    assert pipeline.score(X, sample_weight=WEIGHT) == expected != alone.score(scaled)
    labels = pipeline.fit_predict(X, sample_weight=WEIGHT)
    assert (labels == alone.labels_).all()


def test_validation_and_search_split_weights_with_the_rows():
    both = model(fit=True, score=True)
    found = cross_validate(both, X, params={"sample_weight": WEIGHT}, cv=3)["test_score"]
    parts = np.array_split(np.arange(90), 3)
    for part, score in zip(parts, found, strict=True):
        rest = np.setdiff1d(np.arange(90), part)
        fitted = GPOD(3, affinity=Gaussian(2.0)).fit(X[rest], sample_weight=WEIGHT[rest])
        assert score == fitted.score(X[part], sample_weight=WEIGHT[part])
    search = GridSearchCV(both, {"cut": ["ncut", "ratiocut"]}, cv=3)
    search.fit(X, sample_weight=WEIGHT)
    assert search.best_estimator_.affinity_.n_rows_ == pytest.approx(WEIGHT.sum())
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(found.mean())


def test_weights_that_nobody_asked_for_are_not_handed_on():
    neither = model(fit=False, score=False)
    found = cross_validate(neither, X, params={}, cv=3)["test_score"]
    assert np.isfinite(found).all()
    with pytest.raises(Exception, match="sample_weight"):
        make_pipeline(neither).fit(X, sample_weight=WEIGHT)
