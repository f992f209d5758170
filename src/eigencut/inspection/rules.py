"""Rules: at most three conditions on columns that tell who belongs to a cluster.

A rule is the branch of a shallow tree, grown on half of the rows, with the largest F1 less a price
for each condition; it is measured on the other half. The tree sees ranks instead of values: a
threshold is the shortest number between two values that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Indices
from eigencut._utils.json_ready import JsonReady
from eigencut.inspection.columns import Column
from eigencut.inspection.contrasts import quantile_of, share_interval
from eigencut.inspection.policy import POLICY

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Condition(JsonReady):
    """One condition on a row; a row without a value in the column does not meet it."""

    column: str
    relation: str  # "<=", ">", "is" or "is not"
    value: Any  # a number, a category, or the text of a date


@dataclass(frozen=True)
class Rule(JsonReady):
    """Rows that meet all conditions belong to a cluster, mostly."""

    conditions: tuple[Condition, ...]  # at most three
    precision: float  # the share of the rows that meet them which belong to the cluster
    precision_interval: tuple[float, float]
    coverage: float  # the share of the rows of the cluster that meet them
    coverage_interval: tuple[float, float]
    n_rows: int  # rows on which this was measured
    held_out: bool  # whether the rule was made from others; not so where there are too few


class _Test(NamedTuple):
    """A condition whose value is as the column holds it: a number, or the code of a category."""

    column: Column
    relation: str
    value: Any

    def holds(self, rows: Any) -> Mask:
        values = self.column.values[rows]
        if self.relation == "is":
            return np.asarray(values == self.value)
        if self.relation == "is not":
            return np.asarray((values != self.value) & (values >= 0))
        return np.asarray(values <= self.value if self.relation == "<=" else values > self.value)


class _Feature:
    """What a tree can ask of some rows: the rank of a value, or whether it is a category."""

    def __init__(self, column: Column, rows: Indices, code: int | None = None) -> None:
        self.column, self.code = column, code
        values = column.values[rows]
        if code is not None:
            self.numbers = (values == code).astype(np.float32)
            return
        there = ~np.isnan(values)
        self.distinct, ranks = np.unique(values[there], return_inverse=True)
        numbers = np.full(len(rows), float(np.median(ranks)) if len(ranks) else 0.0)
        numbers[there] = ranks
        self.numbers = numbers.astype(np.float32)

    def test(self, rank: float, goes_right: bool) -> _Test:
        if self.code is None:
            below = min(int(np.floor(rank)), len(self.distinct) - 2)
            bound = short_between(*map(float, self.distinct[below : below + 2]))
            return _Test(self.column, ">" if goes_right else "<=", bound)
        if not goes_right and len(self.column.categories) == 2:
            return _Test(self.column, "is", 1 - self.code)
        return _Test(self.column, "is" if goes_right else "is not", self.code)


def short_between(low: float, high: float) -> float:
    """Return the shortest number t with ``low <= t < high``."""
    if low <= 0 < high:
        return 0.0
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        rounded = float(f"{middle:.{digits}g}")
        if low <= rounded < high:
            return rounded
    return low


def cluster_rule(columns: Sequence[Column], inside: Mask, confidence: float = 0.95) -> Rule | None:
    """Return a rule for the rows inside a cluster; None where conditions do not help."""
    n, n_inside = len(inside), int(inside.sum())
    if not 0 < n_inside < n or not columns:
        return None
    draw = np.random.default_rng(0)
    grows = measures = np.ones(n, dtype=bool)
    held_out = min(n_inside, n - n_inside) >= POLICY.fewest_held_out
    if held_out:
        # Half of the cluster and half of the others, so that both halves have both.
        grows = np.zeros(n, dtype=bool)
        for side in (np.flatnonzero(inside), np.flatnonzero(~inside)):
            grows[draw.permutation(side)[: len(side) // 2]] = True
        measures = ~grows
    tests = _best_branch(columns, inside, grows, draw)
    if not tests:
        return None
    rows = np.flatnonzero(measures)
    own, meets = inside[rows], _all_hold(tests, rows)
    n_both, n_meets, n_own = int((own & meets).sum()), int(meets.sum()), int(own.sum())
    if n_both * len(rows) <= n_meets * n_own:  # as good as a row drawn at random
        return None
    low, high = share_interval(n_both, np.array([n_meets, n_own]), quantile_of(confidence))
    return Rule(
        conditions=tuple(
            Condition(test.column.name, test.relation, test.column.plain(test.value))
            for test in tests
        ),
        precision=n_both / n_meets,
        precision_interval=(float(low[0]), float(high[0])),
        coverage=n_both / n_own,
        coverage_interval=(float(low[1]), float(high[1])),
        n_rows=len(rows),
        held_out=held_out,
    )


def _best_branch(
    columns: Sequence[Column], inside: Mask, grows: Mask, draw: np.random.Generator
) -> list[_Test]:
    """Return the conditions of the best branch, on the rows that grow the tree."""
    drawn, weights, most = [], [], POLICY.rows_of_rule
    for side in (np.flatnonzero(inside & grows), np.flatnonzero(~inside & grows)):
        some = side if len(side) <= most else np.sort(draw.choice(side, most, replace=False))
        drawn.append(some)
        # So that what was drawn counts for all rows of its side.
        weights.append(np.full(len(some), len(side) / len(some)))
    rows, weight = np.concatenate(drawn), np.concatenate(weights)
    own = inside[rows]

    def quality(tests: list[_Test]) -> float:
        meets = _all_hold(tests, rows)
        both = float(weight[meets & own].sum())
        f1 = 2 * both / float(weight[meets].sum() + weight[own].sum())
        return f1 - POLICY.price_of_condition * len(tests)

    best = max(_branches(_features(columns, rows), own), key=quality, default=[])
    for test in list(best):
        fewer = [other for other in best if other is not test]
        if fewer and quality(fewer) >= quality(best):
            best = fewer
    return best


def _features(columns: Sequence[Column], rows: Indices) -> list[_Feature]:
    features = []
    for column in columns:
        if column.kind != "category":
            features.append(_Feature(column, rows))
            continue
        codes = column.values[rows]
        counts = np.bincount(codes[codes >= 0], minlength=len(column.categories))
        common = np.argsort(-counts, kind="stable")[: POLICY.categories_of_rule]
        features += [_Feature(column, rows, int(code)) for code in common if counts[code]]
    return features


def _branches(features: Sequence[_Feature], own: Mask) -> list[list[_Test]]:
    """Return the conditions that lead to each node of a tree, those of one column joined."""
    from sklearn.tree import DecisionTreeClassifier

    if not features:
        return []
    depth = POLICY.most_conditions
    tree = DecisionTreeClassifier(max_depth=depth, class_weight="balanced", random_state=0)
    grown = tree.fit(np.column_stack([feature.numbers for feature in features]), own).tree_
    branches: list[list[_Test]] = []
    open_nodes: list[tuple[int, list[_Test]]] = [(0, [])]
    while open_nodes:
        node, tests = open_nodes.pop()
        if tests:
            branches.append(tests)
        if grown.children_left[node] < 0:
            continue
        feature = features[grown.feature[node]]
        for child, goes_right in ((grown.children_left, False), (grown.children_right, True)):
            new = feature.test(float(grown.threshold[node]), goes_right)
            # A bound takes the place of a wider one on the same side.
            others = [
                test
                for test in tests
                if new.relation not in ("<=", ">")
                or test.column is not new.column
                or test.relation != new.relation
            ]
            open_nodes.append((int(child[node]), [*others, new]))
    return branches


def _all_hold(tests: Sequence[_Test], rows: Indices) -> Mask:
    meets = np.ones(len(rows), dtype=bool)
    for test in tests:
        meets &= test.holds(rows)
    return meets
