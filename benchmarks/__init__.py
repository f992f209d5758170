"""Measurements: speed against named peers, and the studies behind the defaults.

python -m benchmarks              the speed suite; see studies/speed.md
python -m benchmarks.bandwidth    which rule for sigma; see studies/bandwidth.md
python -m benchmarks.automatic_k  how often "auto" finds K; see studies/defaults.md
python -m benchmarks.growth       the default and peers at growing n; see studies/defaults.md
python -m benchmarks.default_speed  its time beside scikit-learn's
python -m benchmarks.label_sets   whether label sets cover; see studies/risk.md
python -m benchmarks.probabilities  whether refits agree as often; see studies/probabilities.md
python -m benchmarks.significance how often p-values are small; see studies/risk.md
python -m benchmarks.statements   whether what is printed holds; see studies/statements.md
python -m benchmarks.pod_steps    how soon POD stops; see studies/risk.md
python -m benchmarks.mixed_tables  tables of numbers and words; see studies/tables.md
python -m benchmarks.metrics      what a metric is worth; see studies/metrics.md
python -m benchmarks.embeddings   texts, and K = 200 in d = 384; see studies/embeddings.md
python -m benchmarks.fit_memory   what fits take in memory; see studies/scale.md
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
STUDIES = ROOT / "benchmarks" / "studies"
