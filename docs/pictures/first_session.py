"""The picture of docs/getting-started.md: the wines of its model, and those it has not seen."""

from __future__ import annotations

from _style import save
from sklearn.datasets import load_wine

from eigencut import GPOD, TableModel
from eigencut.plotting import ClusterDisplay

if __name__ == "__main__":
    wine = load_wine(as_frame=True).data.sample(frac=1, random_state=0)
    wine, new = wine[:140], wine[140:]
    model = TableModel(GPOD("auto"), scale="standard").fit(wine)
    save(ClusterDisplay.from_estimator(model, wine, X_new=new).figure_, "first-clusters")
