"""
A model in an ONNX file
=======================

onnxruntime runs the model in an ONNX file without eigencut, for example in C++, Java or a browser.
Here it gives 100 000 rows the same labels as eigencut.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import make_moons

from eigencut import GPOD, Landmarks, load
from eigencut.export import to_onnx

X, _ = make_moons(20_000, noise=0.08, random_state=0)
model = GPOD(2, affinity=Landmarks(100)).fit(X)

folder = Path(tempfile.mkdtemp())
model.save(folder / "moons.eigencut")
to_onnx(model, folder / "moons.onnx")
for file in sorted(folder.iterdir()):
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")

# %%
# A service needs only onnxruntime, and not eigencut. The last line compares its labels with those
# of eigencut.

session = onnxruntime.InferenceSession(folder / "moons.onnx")
X_new, _ = make_moons(100_000, noise=0.08, random_state=1)
start = time.process_time()
labels, support = session.run(["labels", "support"], {"X": X_new})
print(f"onnxruntime: {time.process_time() - start:.2f} s for {len(X_new)} rows")
print("labels that differ:", int(np.sum(labels != load(folder / "moons.eigencut").predict(X_new))))

# %%
# onnxruntime computed the labels (left) and the support (right) of every place in the plane.
# Support is the logarithm of the mean similarity to the training rows. It falls with the distance
# from them.

at = np.stack(np.meshgrid(np.linspace(-2, 3, 300), np.linspace(-1.3, 1.8, 200)), axis=-1)
labels, support = session.run(["labels", "support"], {"X": at.reshape(-1, 2)})
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
options = {"extent": (-2, 3, -1.3, 1.8), "origin": "lower", "aspect": "auto"}
axes[0].imshow(labels.reshape(200, 300), cmap="coolwarm", alpha=0.6, **options)
shown = axes[1].imshow(np.maximum(support.reshape(200, 300), -30), cmap="viridis", **options)
figure.colorbar(shown, ax=axes[1], label="support (log)")
for ax, title in zip(axes, ("labels", "support"), strict=True):
    ax.scatter(*X[:600].T, s=2, c="black")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
