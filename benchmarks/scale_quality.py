"""Clusters through landmarks against the classes of three data sets: NMI over seeds, true K.

    python benchmarks/scale_quality.py --data FOLDER [--seeds 20] [--options JSON] [--out FILE]

FOLDER holds PenDigits.mat, USPS.mat and Letters.mat (``fea``, ``gt``), the sets of the U-SPEC paper
(Huang et al., 2020), whose results stand beside ours. Only defaults are used: nothing is tuned to a
data set, and labels are seen by the score alone.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from sklearn.metrics import normalized_mutual_info_score

from eigencut import GPOD, Landmarks

PUBLISHED = {"PenDigits": 0.803, "USPS": 0.635, "Letters": 0.425}  # U-SPEC


def measure(folder: Path, name: str, seeds: int, options: dict[str, Any]) -> dict[str, Any]:
    data = loadmat(folder / f"{name}.mat")
    X, y = data["fea"].astype(float), data["gt"].ravel()
    n_clusters = len(np.unique(y))
    scores, start = [], time.process_time()
    for seed in range(seeds):
        model = GPOD(n_clusters, affinity=Landmarks(random_state=seed, **options)).fit(X)
        scores.append(normalized_mutual_info_score(y, model.labels_))
    return {
        "data": name,
        "rows": len(X),
        "features": X.shape[1],
        "clusters": n_clusters,
        "NMI": round(float(np.mean(scores)), 4),
        "deviation": round(float(np.std(scores)), 4),
        "U-SPEC": PUBLISHED[name],
        "CPU seconds per fit": round((time.process_time() - start) / seeds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--options", default="{}", help="of Landmarks, as JSON")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    options = json.loads(args.options)
    found = []
    for name in PUBLISHED:
        found.append(measure(args.data, name, args.seeds, options))
        print(json.dumps(found[-1]), flush=True)
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
