"""What notebooks show: nothing more than scikit-learn before a fit, what was found after it."""

import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigencut import GPOD, Kernel, TableModel
from eigencut.inspection.describe import fitted_html

X = make_blobs([60, 40, 20], 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]


class NamedBadly:
    """A kernel whose name is markup."""

    def __repr__(self):
        return "<script>alert('&')</script>"

    def __call__(self, A, B):
        return 1 / (1 + ((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_a_fitted_model_shows_clusters_sizes_and_choice():
    model = GPOD(3)
    before = model._repr_html_()
    assert "class='eigencut'" not in before and fitted_html(model) == ""
    html = model.fit(X)._repr_html_()
    assert "0: 60, 1: 40, 2: 20" in html and "<td style='text-align:left'>3</td>" in html
    assert "graph" in html and "Neighbors(" in html
    for compared in model.choice_:
        assert f"({compared.score:.3g})" in html
    bundle = model._repr_mimebundle_()
    assert "0: 60, 1: 40, 2: 20" in bundle["text/html"] and bundle["text/plain"] == repr(model)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_") and "text/html" not in model._repr_mimebundle_()


def test_markup_is_escaped():
    html = fitted_html(GPOD(3, affinity=Kernel(NamedBadly())).fit(X))
    assert "<script>" not in html and "&lt;script&gt;alert(&#x27;&amp;&#x27;)" in html


def test_in_a_pipeline_and_as_a_table_model():
    pipeline = make_pipeline(StandardScaler(), GPOD(3)).fit(X)
    assert "GPOD" in pipeline._repr_html_()
    assert "0: 60, 1: 40, 2: 20" in TableModel(GPOD(3)).fit(X)._repr_html_()


def test_many_clusters_are_cut_short_and_outliers_counted():
    html = fitted_html(GPOD(30, affinity="gaussian").fit(X))
    assert "and 10 more" in html
    assert "-1: " in fitted_html(GPOD(3, outliers="label", outlier_quantile=0.3).fit(X))


@pytest.mark.parametrize("kind", [GPOD, TableModel])
def test_unfitted(kind):
    assert fitted_html(kind()) == ""
