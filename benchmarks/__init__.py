"""Measurements: speed against named peers, and the studies behind the defaults.

python -m benchmarks              the speed suite; see docs/benchmarks.md
python -m benchmarks.bandwidth    which rule for sigma; see docs/bandwidth.md
python -m benchmarks.selection    which criterion for K; see docs/selection.md
python -m benchmarks.label_sets   whether label sets cover; see docs/risk.md
python -m benchmarks.significance how often p-values are small; see docs/risk.md
python -m benchmarks.fit_memory   what fits take in memory; see docs/scale.md
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs"
