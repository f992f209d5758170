"""Are the clusters real, do rows keep them, which rows are in doubt, and would more data help?

python examples/trust.py
"""

from __future__ import annotations

from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian
from eigencut.inspection import label_sets, significance, stability
from eigencut.theory import learning_curve


def main() -> None:
    X, _ = make_moons(900, noise=0.15, random_state=0)
    training, held_out, new = X[:300], X[300:500], X[500:]
    model = GPOD(2).fit(training)
    print(significance(model, training, n_null=39), end="\n\n")
    print(stability(model, training), end="\n\n")
    sets = label_sets(model, held_out, training)
    print(sets, end="\n\n")
    in_doubt = sets.predict_set(new, coverage=0.95).sum(axis=1) > 1
    print(f"{in_doubt.sum()} of {len(new)} new rows are in doubt at 95 %\n")
    curve = learning_curve(GPOD(2, affinity=Gaussian(sigma=0.4)), X, sizes=[50, 100, 200])
    print(curve.sentence)


if __name__ == "__main__":
    main()
