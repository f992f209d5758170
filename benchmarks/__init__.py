"""Measurements: speed against named peers, and the studies behind the defaults.

python -m benchmarks              the speed suite; see docs/benchmarks.md
python -m benchmarks.bandwidth    which rule for sigma; see benchmarks/studies/bandwidth.md
python -m benchmarks.selection    which criterion for K; see benchmarks/studies/selection.md
python -m benchmarks.automatic_k  how often "auto" finds K; see docs/studies/defaults.md
python -m benchmarks.growth       the default and peers at growing n; see docs/studies/defaults.md
python -m benchmarks.default_speed  its time beside scikit-learn's
python -m benchmarks.label_sets   whether label sets cover; see docs/studies/risk.md
python -m benchmarks.probabilities  whether refits agree as often; see docs/studies/probabilities.md
python -m benchmarks.significance how often p-values are small; see docs/studies/risk.md
python -m benchmarks.pod_steps    how soon POD stops; see docs/studies/risk.md
python -m benchmarks.mixed_tables  tables of numbers and words; see docs/studies/tables.md
python -m benchmarks.metrics      what a metric is worth; see docs/studies/metrics.md
python -m benchmarks.embeddings   texts, and K = 200 in d = 384; see docs/studies/embeddings.md
python -m benchmarks.fit_memory   what fits take in memory; see docs/studies/scale.md
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs"
STUDIES = ROOT / "benchmarks" / "studies"
