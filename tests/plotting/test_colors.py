"""Colours of clusters for eyes of any kind: what is seen without a kind of cone is simulated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigencut.plotting.style import COLORS, MARKERS, OUTSIDE_COLOR, cluster_style

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", 2009: linear red, green and blue as they are seen without a kind of cone.
SEEN = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colors):
    coded = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB of linear red, green and blue, with the white of sRGB."""
    t = np.clip(rgb, 0, 1) @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def ciede2000(p, q):
    """The CIE's colour difference of 2000 (Sharma, Wu and Dalal, 2005)."""
    (L1, a1, b1), (L2, a2, b2) = np.moveaxis(p, -1, 0), np.moveaxis(q, -1, 0)
    C = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    more = 1.5 - 0.5 * np.sqrt(C**7 / (C**7 + 25.0**7))
    C1, C2 = np.hypot(more * a1, b1), np.hypot(more * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, more * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = (h2 - h1 + 180) % 360 - 180
    dL, dC, dH = L2 - L1, C2 - C1, 2 * np.sqrt(C1 * C2) * np.sin(np.radians(dh / 2))
    L, C = (L1 + L2) / 2, (C1 + C2) / 2
    h = np.where(np.abs(h1 - h2) <= 180, (h1 + h2) / 2, (h1 + h2 + 360) / 2)
    waves = [(-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63)]
    T = 1 + sum(size * np.cos(np.radians(times * h + shift)) for size, times, shift in waves)
    SL = 1 + 0.015 * (L - 50) ** 2 / np.sqrt(20 + (L - 50) ** 2)
    SC, SH = 1 + 0.045 * C, 1 + 0.015 * C * T
    turn = -2 * np.sqrt(C**7 / (C**7 + 25.0**7))
    turn = turn * np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
    parts = (dL / SL) ** 2 + (dC / SC) ** 2 + (dH / SH) ** 2 + turn * (dC / SC) * (dH / SH)
    return np.sqrt(parts)


def differences(colors, seen):
    found = lab(linear(colors) @ np.array(SEEN[seen]).T)
    return ciede2000(found[:, np.newaxis], found)


def test_the_difference_is_that_of_the_cie():
    """Pairs of Sharma, Wu and Dalal's table."""
    p = np.array([[50.0, 2.6772, -79.7751], [50.0, 2.5, 0.0], [60.2574, -34.0099, 36.2677]])
    q = np.array([[50.0, 0.0, -82.7485], [73.0, 25.0, -18.0], [60.4626, -34.1751, 39.4387]])
    assert_allclose(ciede2000(p, q), [2.0425, 27.1492, 1.2644], atol=1e-4)
    assert_allclose(lab(linear(["#ffffff"])), [[100, 0, 0]], atol=1e-9)


@pytest.mark.parametrize("seen", SEEN)
def test_colours_differ_for_every_eye(seen):
    found = differences(COLORS, seen)
    assert (np.diagonal(found, offset=1) > 20).all()  # those of neighbouring numbers
    assert found[np.triu_indices(len(COLORS), 1)].min() > 11


@pytest.mark.parametrize("seen", SEEN)
def test_no_colour_is_lost_on_paper_or_among_rows_without_a_cluster(seen):
    found = differences([*COLORS, "#ffffff", OUTSIDE_COLOR], seen)
    assert found[: len(COLORS), len(COLORS) :].min() > 8


def test_the_test_tells_colours_that_are_too_alike():
    """Red and green, which four men in a hundred do not tell apart."""
    found = differences(["#59a14f", "#e15759", "#9c755f"], "deuteranopia")
    assert found[np.triu_indices(3, 1)].min() < 5
    assert differences(["#59a14f", "#e15759"], "normal")[0, 1] > 40


def test_styles_are_unique_beyond_thirty_clusters():
    styles = [cluster_style(number) for number in range(len(COLORS) * (len(MARKERS) - 1))]
    assert len(set(styles)) == len(styles) >= 30
    assert all(style.marker == "circle" for style in styles[: len(COLORS)])
    assert cluster_style(-1) not in styles
    assert {style.marker for style in styles} | {cluster_style(-1).marker} == set(MARKERS)
    assert cluster_style(len(styles)) == styles[0]
