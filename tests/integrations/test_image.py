"""Segments of images that are drawn, of all kinds of arrays."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_sample_image
from sklearn.metrics import adjusted_rand_score

import eigencut
from eigencut.integrations.image import segment

WHY = "superpixels are scikit-image's"
COLOURS = np.array([[200, 40, 40], [40, 160, 60], [40, 60, 190]], dtype=np.uint8)


def drawing(height=48, width=64, seed=0):
    """Three areas of colour with a little noise, and which pixel is of which."""
    down, right = np.indices((height, width))
    truth = np.where((down - 20) ** 2 + (right - 20) ** 2 < 150, 1, np.where(right > 44, 2, 0))
    noise = np.random.default_rng(seed).integers(-12, 13, (height, width, 3))
    return (COLOURS[truth] + noise).clip(0, 255).astype(np.uint8), truth


class OfTorch:
    """What of a tensor on the processor is used."""

    def __init__(self, values, protocol):
        self._values = values
        if protocol == "array":
            self.__class__ = type("WithArray", (OfTorch,), {"__array__": OfTorch._array})

    def _array(self, dtype=None, copy=None):
        return self._values

    def __dlpack__(self, **how):
        return self._values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


def test_it_is_reached_by_its_name():
    assert eigencut.image.segment is segment and "image" in dir(eigencut)


def test_areas_of_colour_are_found_without_their_number():
    image, truth = drawing()
    labels = segment(image)
    assert labels.shape == truth.shape and labels.dtype.kind == "i"
    assert adjusted_rand_score(truth.ravel(), labels.ravel()) > 0.95
    assert (segment(image) == labels).all()
    assert (np.diff(np.bincount(labels.ravel())) <= 0).all()


@pytest.mark.parametrize("kind", ["uint16", "float64", "float32", "rgba", "array", "dlpack"])
def test_one_image_in_many_arrays(kind):
    image, truth = drawing()
    opaque = np.full((*truth.shape, 1), 255, dtype=np.uint8)
    same = {
        "uint16": image.astype(np.uint16) * 257,
        "float64": image / 255,
        "float32": (image / 255).astype(np.float32),
        "rgba": np.concatenate([image, opaque], axis=2),
        "array": OfTorch(image, "array"),
        "dlpack": OfTorch(image, "dlpack"),
    }[kind]
    assert adjusted_rand_score(segment(image, 3).ravel(), segment(same, 3).ravel()) > 0.99


def test_what_is_transparent_is_white():
    image, truth = drawing()
    opacity = np.where(truth == 1, 0, 255).astype(np.uint8)
    white = np.where((truth == 1)[:, :, np.newaxis], 255, image).astype(np.uint8)
    found = segment(np.dstack([image, opacity]), 3)
    assert (found == segment(white, 3)).all()


def test_grey_images_are_of_any_unit():
    image, truth = drawing()
    grey = image[:, :, 0].astype(np.int64) * 2 + image[:, :, 1]
    labels = segment(grey, 3, scale=1)
    assert adjusted_rand_score(truth.ravel(), labels.ravel()) > 0.9
    moved = segment(grey[:, :, np.newaxis] * 1000.0 - 5, 3, scale=1)
    assert adjusted_rand_score(moved.ravel(), labels.ravel()) > 0.99


def test_features_as_an_image_or_as_rows():
    rng = np.random.default_rng(0)
    _, truth = drawing()
    features = rng.standard_normal((3, 24))[truth] + 0.3 * rng.standard_normal((*truth.shape, 24))
    as_image = segment(features, 3)
    assert adjusted_rand_score(truth.ravel(), as_image.ravel()) > 0.95
    as_rows = segment(features.reshape(-1, 24), 3, shape=truth.shape)
    assert (as_rows == as_image).all()
    three = segment(4 * features[:, :, :3].reshape(-1, 3), 3, shape=truth.shape)
    assert three.shape == truth.shape


def test_place_divides_what_colour_cannot():
    flat = np.full((30, 60, 3), 90, dtype=np.uint8)
    labels = segment(flat, 2)
    assert (labels[:, :25] == labels[0, 0]).all() and (labels[:, 35:] != labels[0, 0]).all()
    image, truth = drawing()
    assert adjusted_rand_score(truth.ravel(), segment(image, 3, position=0).ravel()) > 0.9


def test_superpixels_first():
    pytest.importorskip("skimage", reason=WHY)
    image, truth = drawing()
    labels = segment(image, 3, n_segments=150)
    assert adjusted_rand_score(truth.ravel(), labels.ravel()) > 0.9
    grey = segment(image[:, :, 0], 2, n_segments=150)
    assert adjusted_rand_score((truth == 0).ravel(), grey.ravel()) > 0.9


def test_superpixels_without_scikit_image_are_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with pytest.raises(ImportError, match=r"pip install 'eigencut\[image\]'"):
        segment(drawing()[0], 3, n_segments=50)


def test_a_photograph_has_its_sky():
    pytest.importorskip("matplotlib", reason="it brings pillow, which reads photographs")
    labels = segment(load_sample_image("china.jpg")[::3, ::3])
    sky, leaves = labels[:8, -60:], labels[-8:]
    assert (sky == sky[0, 0]).all() and (leaves != sky[0, 0]).mean() > 0.95


GOOD = drawing()[0]
HOLE = np.where(np.indices((20, 20))[0] == 3, np.nan, 0.5)


@pytest.mark.parametrize(
    "image, how, message",
    [
        (GOOD, dict(scale=-1), r"scale must be a finite number of at least 0\. Got -1"),
        (GOOD, dict(position=np.inf), r"position must be a finite .* Got inf; use 0 for colour"),
        (GOOD, dict(n_segments=0), r"n_segments must be an integer of at least 1\. Got 0; use Non"),
        (GOOD, dict(n_clusters=0), r"n_clusters must be .* Got 0"),
        (GOOD, dict(shape=(4, 4)), r"one row for each of the 4 x 4 pixels of shape\. Got an array"),
        (GOOD[np.newaxis], {}, r"must have height, width and channels\. Got .*\(1, 48, 64, 3\)"),
        (np.moveaxis(GOOD, -1, 0), {}, r"channels last\. Got .*\(3, 48, 64\); use numpy\.moveaxis"),
        (GOOD * 1.0, {}, r"floats from 0 to 1\. Got float64 from .*; convert it, or pass features"),
        (GOOD.astype(int), {}, r"colours as uint8, uint16 or floats from 0 to 1\. Got int64"),
        (GOOD[0], dict(shape="48x64"), r"shape must be height and width.* Got '48x64'; write it"),
        (GOOD[0], dict(shape=64), r"shape must be height and width.* Got 64; write it"),
        (GOOD[0], dict(shape=(8, 8, 1)), r"shape must be height and width.* Got \(8, 8, 1\)"),
        (GOOD[0], dict(shape=(-8, -8)), r"shape must be .*two positive integers\. Got \(-8, -8\)"),
        (GOOD[0], dict(shape=(8.0, 8)), r"shape must be .*two positive integers\. Got \(8\.0, 8\)"),
        (GOOD, dict(scale=1e9), r"scale must be at most the longer .*, 64 pixels\. Got 1e\+09"),
        (np.ma.masked_equal(GOOD, GOOD[0, 0, 0]), {}, r"a value at every pixel\. Got a masked"),
        (HOLE, {}, r"image must be finite\. Got nan at row 3, column 0; use numpy\.nan_to_num"),
    ],
)
def test_refusals(image, how, message):
    with pytest.raises(ValueError, match=message):
        segment(image, **how)


def test_a_mask_of_nothing_and_a_shape_of_numpy():
    image = drawing()[0]
    expected = segment(image, 3)
    assert (segment(np.ma.masked_array(image), 3) == expected).all()
    rows = image.reshape(-1, 3)
    for shape in (list(image.shape[:2]), np.array(image.shape[:2])):
        assert segment(rows, 3, shape=shape).shape == image.shape[:2]


def test_refusals_of_what_is_no_image():
    with pytest.raises(TypeError, match=r"image must hold real numbers\. Got <U3; convert it"):
        segment(np.array([["red", "red"]]))
