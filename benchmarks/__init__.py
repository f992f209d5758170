"""Measurements: speed against named peers, and the studies behind the defaults.

python -m benchmarks              the speed suite; see docs/benchmarks.md
python -m benchmarks.bandwidth    which rule for sigma; see benchmarks/studies/bandwidth.md
python -m benchmarks.selection    which criterion for K; see benchmarks/studies/selection.md
python -m benchmarks.automatic_k  how often "auto" finds K; see docs/defaults.md
python -m benchmarks.growth       the default at growing n, and its peers; see docs/defaults.md
python -m benchmarks.default_speed  its time beside scikit-learn's
python -m benchmarks.label_sets   whether label sets cover; see docs/risk.md
python -m benchmarks.probabilities  whether refits agree as often; see docs/probabilities.md
python -m benchmarks.significance how often p-values are small; see docs/risk.md
python -m benchmarks.pod_steps    how soon POD stops; see docs/risk.md
python -m benchmarks.mixed_tables  tables of numbers and words, and peers; see docs/tables.md
python -m benchmarks.embeddings   texts, and K = 200 in d = 384; see docs/embeddings.md
python -m benchmarks.fit_memory   what fits take in memory; see docs/scale.md
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs"
STUDIES = ROOT / "benchmarks" / "studies"
