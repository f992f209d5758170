"""Segment images; this module is ``eigencut.image``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import as_numpy, check_count, check_magnitude, is_integer, needed
from eigencut.affinities import Landmarks
from eigencut.exceptions import invalid
from eigencut.gpod import GPOD

__all__ = ["segment"]


COMPACTNESS = 0.1  # of superpixels; SLIC scales channels to a range of 1
LEAST_SIDE = 16  # an array (3, 16, 16) or larger is an image whose channels come first


def segment(
    image: Any,
    n_clusters: Any = "auto",
    *,
    n_segments: int | None = None,
    scale: float = 1.0,
    position: float = 0.5,
    shape: tuple[int, int] | None = None,
    random_state: int | None = 0,
) -> Indices:
    """Divide an image into segments by a normalized cut of its pixels.

    Parameters
    ----------
    image : array of shape (height, width), (height, width, channels) or (pixels, channels)
        Grey, RGB, RGBA (shown on white), or any features, such as those of a neural network.
        Colours are uint8, uint16 or floats from 0 to 1; they need ``pip install '.[image]'``.
    n_clusters : int, "auto" or iterable of int, default="auto"
        As in ``GPOD``.
    n_segments : int, optional
        Divide the image into about this many superpixels first (scikit-image's SLIC).
    scale : float, default=1.0
        The standard deviation, in pixels, of the Gaussian that smooths the channels.
    position : float, default=0.5
        The influence of a pixel's place, relative to that of all its channels together.
    shape : tuple of int, optional
        Height and width, if ``image`` is an array of (pixels, channels), row by row. Its channels
        are then compared as they are. Without it, 3 or 4 channels are a colour, in CIELAB.
    random_state : int or None, default=0
        As in ``GPOD``.

    Returns
    -------
    labels : array of int of shape (height, width)
        The segment of each pixel, from 0 by decreasing size. A segment can have several parts.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((40, 60))
    >>> image[:, 40:] = 1.0
    >>> labels = segment(image, 2, scale=0)
    >>> np.bincount(labels.ravel())
    array([1600,  800])
    """
    scale = check_magnitude("scale", scale, "use 0 for pixels as they are")
    position = check_magnitude("position", position, "use 0 for colour alone")
    pixels = _as_image(image, shape)
    is_colour = shape is None and pixels.shape[2] in (3, 4)  # RGB or RGBA
    pixels = _lab_of(pixels) if is_colour else pixels.astype(np.float64)
    longest = max(pixels.shape[:2])
    if scale > longest:  # smoothing takes time and memory in proportion to it
        expected = f"be at most the longer side of the image, {longest} pixels"
        raise invalid("scale", expected, f"{scale:g}", "use the default of 1")
    # Pixels are compared by channels and place; the spread of each is its influence.
    groups = [_spread_to(1.0, gaussian_filter(pixels, (scale, scale, 0)))]
    if position:
        places = np.indices(pixels.shape[:2], dtype=np.float64).reshape(2, -1).T
        groups.append(_spread_to(position, places))
    rows = np.hstack(groups).astype(np.float32)
    model = GPOD(n_clusters, affinity=Landmarks(400), random_state=random_state)
    if n_segments is None:
        return model.fit_predict(rows).reshape(pixels.shape[:2])
    check_count("n_segments", n_segments, "use None for pixels")
    superpixels = needed("skimage.segmentation", "image").slic(
        pixels,
        n_segments=n_segments,
        compactness=COMPACTNESS,
        channel_axis=-1,
        convert2lab=False,
        start_label=0,
    )
    superpixels = np.unique(superpixels, return_inverse=True)[1].ravel()
    sizes = np.bincount(superpixels)
    means = np.column_stack([np.bincount(superpixels, column) / sizes for column in rows.T])
    labels = model.fit_predict(means, sample_weight=sizes)
    return np.asarray(labels[superpixels].reshape(pixels.shape[:2]))


def _as_image(image: Any, shape: tuple[int, int] | None) -> NDArray[Any]:
    """Return the image as an array of shape (height, width, channels), checked."""
    if np.ma.is_masked(image):
        got = f"a masked array with {np.ma.count_masked(image)} values masked"
        raise invalid("image", "have a value at every pixel", got, "fill them by image.filled(...)")
    found = np.asarray(as_numpy(image))
    if found.dtype.kind not in "buif":
        remedy = "convert it to uint8 or float"
        raise invalid("image", "hold real numbers", found.dtype, remedy, error=TypeError)
    if shape is not None:
        sides = list(shape) if isinstance(shape, (tuple, list, np.ndarray)) else []
        if [is_integer(side) and side > 0 for side in sides] != [True, True]:
            expected = "be height and width, two positive integers"
            raise invalid("shape", expected, repr(shape)[:60], "write it as shape=(480, 640)")
        height, width = map(int, sides)
        if found.ndim != 2 or len(found) != height * width:
            expected = f"have one row for each of the {height} x {width} pixels of shape"
            remedy = "correct shape, or leave it out for an image"
            raise invalid("image", expected, f"an array of shape {found.shape}", remedy)
        found = found.reshape(height, width, -1)
    found = found[:, :, np.newaxis] if found.ndim == 2 else found
    if found.ndim != 3 or not found.size:
        expected = "have height, width and channels"
        remedy = "pass one image at a time, or shape=(height, width) with rows"
        raise invalid("image", expected, f"an array of shape {np.shape(image)}", remedy)
    if found.shape[0] in (1, 3, 4) and min(found.shape[1:]) >= LEAST_SIDE:
        remedy = "use numpy.moveaxis(image, 0, -1)"
        raise invalid("image", "have its channels last", f"an array of shape {found.shape}", remedy)
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        row, column, channel = np.argwhere(~np.isfinite(found))[0]
        got = f"{found[row, column, channel]} at row {row}, column {column}"
        raise invalid("image", "be finite", got, "use numpy.nan_to_num(image)")
    return found


def _lab_of(image: NDArray[Any]) -> Array:
    """Return an RGB or RGBA image in CIELAB, where distances are as large as they look."""
    if image.dtype in (np.uint8, np.uint16):
        colours = image / np.iinfo(image.dtype).max
    elif image.dtype.kind == "f" and image.min() >= 0 and image.max() <= 1:
        colours = image.astype(np.float64)
    else:
        got = f"{image.dtype} from {image.min():g} to {image.max():g}"
        remedy = "convert it, or pass features as (pixels, channels) with shape=(height, width)"
        raise invalid("image", "hold colours as uint8, uint16 or floats from 0 to 1", got, remedy)
    if image.shape[2] == 4:
        opacity = colours[:, :, 3:]
        colours = opacity * colours[:, :, :3] + (1 - opacity)
    return np.asarray(needed("skimage.color", "image").rgb2lab(colours))


def _spread_to(total: float, channels: Array) -> Array:
    """Return centred columns, scaled together to this standard deviation."""
    columns = channels.reshape(-1, channels.shape[-1])
    centred = columns - columns.mean(axis=0)
    spread = np.sqrt((centred**2).sum() / len(centred))
    return np.asarray(centred * (total / spread) if spread > 0 else centred)
