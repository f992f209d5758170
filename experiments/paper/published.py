"""What the paper prints: bandwidths and results of its tables."""

from __future__ import annotations

CUT_TITLES = {"ncut": "NCut", "ratiocut": "RatioCut"}
METRICS = {"acc": "ACC", "nmi": "NMI"}
SETS = ("ionosphere", "balance", "sonar", "diabetes", "banknote", "mammographic")

SIGMAS: dict[str, dict[str, float]] = {
    "ncut": dict(zip(SETS, (0.397, 0.094, 0.0245, 0.173, 0.052, 0.082), strict=True)),
    "ratiocut": dict(zip(SETS, (0.397, 0.094, 0.0245, 5.5, 0.048, 0.082), strict=True)),
}
TOY_SIGMAS = {"ncut": 0.1, "ratiocut": 0.0006}

# Method, then metric, then set. ACC is in per cent, as in the paper.
RESULTS: dict[str, dict[str, dict[str, float]]] = {
    "kmeans": {
        "acc": dict(zip(SETS, (76.1, 52.5, 55.7, 67.5, 56.0, 64.8), strict=True)),
        "nmi": dict(zip(SETS, (0.1965, 0.1399, 0.0474, 0.0581, 0.0123, 0.0710), strict=True)),
    },
    "ncut": {
        "acc": dict(zip(SETS, (78.2, 64.4, 64.8, 71.5, 73.0, 76.0), strict=True)),
        "nmi": dict(zip(SETS, (0.3058, 0.2370, 0.0697, 0.0978, 0.2750, 0.2161), strict=True)),
    },
    "ratiocut": {
        "acc": dict(zip(SETS, (79.1, 66.9, 58.2, 74.0, 88.3, 74.8), strict=True)),
        "nmi": dict(zip(SETS, (0.3229, 0.2937, 0.0427, 0.1417, 0.4986, 0.2012), strict=True)),
    },
}
