"""Rules: at most three conditions on columns that tell who belongs to a cluster.

A shallow tree is grown for each cluster against all others, and of its branches the one is taken
whose precision and coverage are best together (the largest F1, less 0.005 for each condition). The
tree sees ranks instead of values: its thresholds are then between two values that occur, in any
units, and are written as the shortest number there.

Half of the rows grow the tree, and the rule, as it is written, is measured on the other half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Indices
from eigencut._utils.json_ready import JsonReady
from eigencut.inspection.columns import Column
from eigencut.inspection.intervals import quantile_of, share_interval

Mask = NDArray[np.bool_]

_DEPTH = 3
_GROWN_ON = 4000  # rows of the cluster, and as many others, that grow a tree
_FEWEST = 20  # rows of a cluster, and others, of which half can be held out
_PRICE = 0.005  # of F1, that a condition must add to be worth reading
_MOST_CATEGORIES = 20  # of a column that a rule may ask for: the most frequent ones


@dataclass(frozen=True)
class Condition(JsonReady):
    """One condition on a row; a row without a value in the column does not meet it.

    Attributes
    ----------
    column : str
    relation : {"<=", ">", "is", "is not"}
    value : float or str
        Of a date its text.
    """

    column: str
    relation: str
    value: Any


@dataclass(frozen=True)
class Rule(JsonReady):
    """Rows that meet all conditions belong to a cluster, mostly.

    Attributes
    ----------
    conditions : tuple of Condition
        At most three.
    precision : float
        The share of the rows that meet them which belong to the cluster.
    precision_interval : tuple of float
    coverage : float
        The share of the rows of the cluster that meet them.
    coverage_interval : tuple of float
    n_rows : int
        Rows on which this was measured.
    held_out : bool
        Whether these are others than those that gave the rule; not so where there are too few.
    """

    conditions: tuple[Condition, ...]
    precision: float
    precision_interval: tuple[float, float]
    coverage: float
    coverage_interval: tuple[float, float]
    n_rows: int
    held_out: bool


@dataclass(frozen=True)
class _Feature:
    """What a tree can ask of a row: the rank of a value, or whether it is a category."""

    column: Column
    code: int | None = None  # of the category

    def at(self, rows: Indices) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """For the tree a number per row; and the values that its numbers stand for."""
        values = self.column.values[rows]
        if self.code is not None:
            return (values == self.code).astype(np.float32), np.array([])
        there = ~np.isnan(values)
        distinct, ranks = np.unique(values[there], return_inverse=True)
        found = np.full(len(rows), float(np.median(ranks)) if len(ranks) else 0.0)
        found[there] = ranks
        return found.astype(np.float32), distinct

    def test(self, rank: float, goes_right: bool, distinct: NDArray[Any]) -> _Test:
        if self.code is not None:
            if not goes_right and len(self.column.categories) == 2:
                return _Test(self.column, "is", 1 - self.code)
            return _Test(self.column, "is" if goes_right else "is not", self.code)
        below = min(int(np.floor(rank)), len(distinct) - 2)
        bound = short_between(float(distinct[below]), float(distinct[below + 1]))
        return _Test(self.column, ">" if goes_right else "<=", bound)


@dataclass(frozen=True)
class _Test:
    column: Column
    relation: str
    value: Any

    def holds(self, rows: Any) -> Mask:
        values = self.column.values[rows]
        if self.relation == "is":
            return np.asarray(values == self.value)
        if self.relation == "is not":
            return np.asarray((values != self.value) & (values >= 0))
        with np.errstate(invalid="ignore"):
            return np.asarray(
                values <= self.value if self.relation == "<=" else values > self.value
            )

    def condition(self) -> Condition:
        return Condition(self.column.name, self.relation, self.column.plain(self.value))


def short_between(low: float, high: float) -> float:
    """The shortest number t with ``low <= t < high``.

    Examples
    --------
    >>> short_between(2.718, 3.142), short_between(1234.5, 1236.0), short_between(-0.5, 0.4)
    (3.0, 1235.0, 0.0)
    """
    if low <= 0 < high:
        return 0.0
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        found = float(f"{middle:.{digits}g}")
        if low <= found < high:
            return found
    return low


def rules(
    columns: Sequence[Sequence[Column]], labels: Indices, n_clusters: int, confidence: float = 0.95
) -> list[Rule | None]:
    """A rule for each cluster; None where no conditions are better than none.

    Parameters
    ----------
    columns : sequence of sequences of Column
        For each cluster those that its rule may ask for.
    labels : array of shape (n_rows,)
        From 0 to ``n_clusters`` - 1.
    n_clusters : int
    confidence : float, default=0.95
        Of the intervals.

    Returns
    -------
    list of Rule or None
    """
    z = quantile_of(confidence)
    return [_rule(columns[k], labels == k, z) for k in range(n_clusters)]


def _rule(columns: Sequence[Column], inside: Mask, z: float) -> Rule | None:
    n, n_inside = len(inside), int(inside.sum())
    if not 0 < n_inside < n or not columns:
        return None
    draw = np.random.default_rng(0)
    grows = measures = np.ones(n, dtype=bool)
    held_out = min(n_inside, n - n_inside) >= _FEWEST
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
    precision, coverage = (
        tuple(float(end) for end in share_interval(np.array(n_both), np.array(total), z))
        for total in (n_meets, n_own)
    )
    return Rule(
        conditions=tuple(test.condition() for test in tests),
        precision=n_both / n_meets,
        precision_interval=(precision[0], precision[1]),
        coverage=n_both / n_own,
        coverage_interval=(coverage[0], coverage[1]),
        n_rows=len(rows),
        held_out=held_out,
    )


def _best_branch(
    columns: Sequence[Column], inside: Mask, grows: Mask, draw: np.random.Generator
) -> list[_Test]:
    """The conditions of the best branch, on the rows that grow the tree."""
    sides = [np.flatnonzero(inside & grows), np.flatnonzero(~inside & grows)]
    some = [
        side if len(side) <= _GROWN_ON else np.sort(draw.choice(side, _GROWN_ON, replace=False))
        for side in sides
    ]
    rows = np.concatenate(some)
    # So that what was drawn counts for all rows of its side.
    weight = np.repeat([len(sides[i]) / len(some[i]) for i in (0, 1)], [len(s) for s in some])
    own = inside[rows]
    branches = _branches(_features(columns, rows), rows, own)

    def quality(tests: list[_Test]) -> float:
        meets = _all_hold(tests, rows)
        both = float(weight[meets & own].sum())
        return 2 * both / float(weight[meets].sum() + weight[own].sum()) - _PRICE * len(tests)

    best = max(branches, key=quality, default=[])
    for test in list(best):
        fewer = [other for other in best if other is not test]
        if fewer and quality(fewer) >= quality(best):
            best = fewer
    return best


def _features(columns: Sequence[Column], rows: Indices) -> list[_Feature]:
    found = []
    for column in columns:
        if column.kind != "category":
            found.append(_Feature(column))
            continue
        codes = column.values[rows]
        counts = np.bincount(codes[codes >= 0], minlength=len(column.categories))
        common = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
        found += [_Feature(column, int(code)) for code in common if counts[code]]
    return found


def _branches(features: Sequence[_Feature], rows: Indices, own: Mask) -> list[list[_Test]]:
    """The conditions that lead to each node of a tree, those of one column joined."""
    from sklearn.tree import DecisionTreeClassifier

    if not features:
        return []
    asked = [feature.at(rows) for feature in features]
    table = np.column_stack([numbers for numbers, _ in asked])
    tree = DecisionTreeClassifier(max_depth=_DEPTH, class_weight="balanced", random_state=0)
    grown = tree.fit(table, own).tree_
    found: list[list[_Test]] = []
    open_nodes: list[tuple[int, list[_Test]]] = [(0, [])]
    while open_nodes:
        node, tests = open_nodes.pop()
        if tests:
            found.append(tests)
        if grown.children_left[node] < 0:
            continue
        feature, distinct = features[grown.feature[node]], asked[grown.feature[node]][1]
        for child, goes_right in ((grown.children_left, False), (grown.children_right, True)):
            test = feature.test(float(grown.threshold[node]), goes_right, distinct)
            open_nodes.append((int(child[node]), _joined(tests, test)))
    return found


def _joined(tests: list[_Test], new: _Test) -> list[_Test]:
    """The tests and one more; a bound takes the place of a wider one on the same side."""
    bounds = ("<=", ">")
    return [
        test
        for test in tests
        if not (
            new.relation in bounds and test.column is new.column and test.relation == new.relation
        )
    ] + [new]


def _all_hold(tests: Sequence[_Test], rows: Indices) -> Mask:
    meets = np.ones(len(rows), dtype=bool)
    for test in tests:
        meets &= test.holds(rows)
    return meets
