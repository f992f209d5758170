"""Segments of images, and cuts of scikit-image's region graphs; reached as ``eigencut.image``.

A pixel is a row: its colour (or whatever channels it has), its place and, if asked for, the texture
around it. Only superpixels need scikit-image.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from eigencut._utils.arrays import Array, Indices, as_numpy
from eigencut._utils.validation import check_choice, check_count, check_magnitude, needed
from eigencut.affinities import Landmarks
from eigencut.gpod import GPOD
from eigencut.integrations.region_graphs import cut_normalized

__all__ = ["cut_normalized", "segment"]

_CHANNELS = ("auto", "color", "features")
_COLOURS = (3, 4)  # channels of RGB and RGBA
_FIRST, _AT_LEAST = (1, 3, 4), 16  # channels, where they come first, and pixels of a side then
_COMPACTNESS = 0.1  # of superpixels, whose channels SLIC brings to a range of 1
_WINDOW = 3.0  # of texture, in units of the scale
_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)  # of linear sRGB, under daylight (D65)


def segment(
    image: Any,
    n_clusters: Any = "auto",
    *,
    n_segments: int | None = None,
    scale: float = 1.0,
    position: float = 0.5,
    texture: float = False,
    shape: tuple[int, int] | None = None,
    channels: str = "auto",
    n_landmarks: int = 400,
    random_state: int | None = 0,
) -> Indices:
    """Divide an image into segments by a normalized cut of its pixels.

    Parameters
    ----------
    image : array of shape (height, width), (height, width, channels) or (pixels, channels)
        Grey, RGB, RGBA (on white), or any features, as of a neural network. Colours are uint8,
        uint16 or floats from 0 to 1. Anything with ``__array__`` or ``__dlpack__`` on the
        processor, as torch tensors have.
    n_clusters : int, "auto" or iterable of int, default="auto"
        As of ``GPOD``. "auto" finds the few that are clearly apart.
    n_segments : int, optional
        Make about so many superpixels first (scikit-image's SLIC), and cluster these: segments with
        smooth borders, in less time.
    scale : float, default=1.0
        Details of so many pixels do not count: the standard deviation of a Gaussian that channels
        are smoothed by. 0 leaves them as they are.
    position : float, default=0.5
        What the place of a pixel counts, its channels together counting 1: the ratio of their
        standard deviations. 0 is channels alone.
    texture : float or bool, default=False
        What the standard deviation of channels nearby (within about 3 ``scale``) counts; True is 1.
    shape : tuple of int, optional
        Height and width, where ``image`` is an array of (pixels, channels), row by row.
    channels : {"auto", "color", "features"}, default="auto"
        Colours are compared in CIELAB, features as they are. "auto" takes 3 or 4 channels for a
        colour, if there is no ``shape``.
    n_landmarks : int, default=400
        As of ``Landmarks``.
    random_state : int or None, default=0
        As of ``GPOD``.

    Returns
    -------
    labels : array of int of shape (height, width)
        The cluster of each pixel, from 0 by decreasing size. A cluster can be in several places;
        ``skimage.measure.label(labels, background=-1)`` tells these apart.

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
    texture = check_magnitude("texture", _as_number(texture), "use False, or True")
    check_choice("channels", channels, _CHANNELS)
    pixels = _comparable(_as_image(image, shape), channels, shape)
    _check_scale(scale, pixels)
    rows = _rows(pixels, scale, position, texture)
    model = GPOD(n_clusters, affinity=Landmarks(n_landmarks), random_state=random_state)
    if n_segments is None:
        return model.fit_predict(rows).reshape(pixels.shape[:2])
    check_count("n_segments", n_segments, "use None for pixels")
    superpixels = _superpixels(pixels, n_segments)
    sizes = np.bincount(superpixels)
    means = np.column_stack([np.bincount(superpixels, column) / sizes for column in rows.T])
    labels = model.fit_predict(means, sample_weight=sizes)
    return np.asarray(labels[superpixels].reshape(pixels.shape[:2]))


def _as_number(texture: object) -> object:
    return float(texture) if isinstance(texture, bool) else texture


def _as_image(image: Any, shape: tuple[int, int] | None) -> NDArray[Any]:
    """The image as an array of (height, width, channels)."""
    if isinstance(image, np.ma.MaskedArray) and np.ma.getmaskarray(image).any():
        raise ValueError(
            "image must have a value at every pixel. Got a masked array with "
            f"{int(np.ma.getmaskarray(image).sum())} values masked; fill them by image.filled(...)."
        )
    try:
        found = np.asarray(as_numpy(image))
    except (
        BufferError,
        TypeError,
        ValueError,
        RuntimeError,
    ) as error:  # RuntimeError: torch, with gradients
        raise TypeError(
            f"image must be an array on the processor. Got {type(image).__name__} ({error}); "
            "convert it, as by tensor.detach().cpu()."
        ) from error
    if found.dtype.kind not in "buif":
        raise TypeError(
            f"image must hold real numbers. Got {found.dtype}; convert it to uint8 or float."
        )
    if shape is not None:
        height, width = _checked_shape(shape)
        if found.ndim != 2 or len(found) != height * width:
            raise ValueError(
                f"image must have one row for each of the {height} x {width} pixels of shape. Got "
                f"an array of shape {found.shape}; correct shape, or leave it out for an image."
            )
        found = found.reshape(height, width, -1)
    found = found[:, :, np.newaxis] if found.ndim == 2 else found
    if found.ndim != 3 or not found.size:
        raise ValueError(
            "image must have height, width and channels. Got an array of shape "
            f"{np.shape(image)}; pass one image at a time, or shape=(height, width) with rows."
        )
    if found.shape[0] in _FIRST and min(found.shape[1:]) >= _AT_LEAST:
        raise ValueError(
            f"image must have its channels last. Got an array of shape {found.shape}; use "
            "numpy.moveaxis(image, 0, -1)."
        )
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        row, column, channel = np.argwhere(~np.isfinite(found))[0]
        raise ValueError(
            f"image must be finite. Got {found[row, column, channel]} at row {row}, column "
            f"{column}; use numpy.nan_to_num(image)."
        )
    return found


def _checked_shape(shape: Any) -> tuple[int, int]:
    sides = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) else ()
    are_counts = [isinstance(side, (int, np.integer)) and side > 0 for side in sides]
    if are_counts != [True, True]:
        raise ValueError(
            "shape must be height and width, two positive integers. Got "
            f"{repr(shape)[:60]}; write it as shape=(480, 640)."
        )
    return int(sides[0]), int(sides[1])


def _check_scale(scale: float, pixels: Array) -> None:
    """Smoothing takes time and room in proportion to it, and beyond the image there is nothing."""
    longest = max(pixels.shape[:2])
    if scale > longest:
        raise ValueError(
            f"scale must be at most the longer side of the image, {longest} pixels. Got {scale:g}; "
            "use the default of 1."
        )


def _comparable(image: NDArray[Any], channels: str, shape: object) -> Array:
    """Channels whose distances can be compared: CIELAB of colours, features as they are."""
    is_colour = channels == "color" or (
        channels == "auto" and shape is None and image.shape[2] in _COLOURS
    )
    if not is_colour:
        return image.astype(np.float64)
    if image.shape[2] not in _COLOURS:
        raise ValueError(
            f"image must have 3 or 4 channels with channels='color'. Got {image.shape[2]}; use "
            "channels='features'."
        )
    if image.dtype in (np.uint8, np.uint16):
        colours = image / np.iinfo(image.dtype).max
    elif image.dtype.kind == "f" and image.min() >= 0 and image.max() <= 1:
        colours = image.astype(np.float64)
    else:
        raise ValueError(
            "image must hold colours as uint8, uint16 or floats from 0 to 1. Got "
            f"{image.dtype} from {image.min():g} to {image.max():g}; convert it, or use "
            "channels='features'."
        )
    if image.shape[2] == 4:
        opacity = colours[:, :, 3:]
        colours = opacity * colours[:, :, :3] + (1 - opacity)
    return to_lab(colours)


def to_lab(colours: Array) -> Array:
    """CIELAB of sRGB from 0 to 1: distances are about as large as they look.

    Parameters
    ----------
    colours : array of shape (..., 3)

    Returns
    -------
    lab : array of shape (..., 3)
        Lightness from 0 to 100, green to red, blue to yellow.
    """
    linear = np.where(colours > 0.04045, ((colours + 0.055) / 1.055) ** 2.4, colours / 12.92)
    relative = linear @ (_TO_XYZ / _TO_XYZ.sum(axis=1, keepdims=True)).T
    is_dark = relative <= (6 / 29) ** 3
    x, y, z = np.moveaxis(
        np.where(is_dark, relative * (29 / 6) ** 2 / 3 + 4 / 29, np.cbrt(relative)), -1, 0
    )
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def _rows(pixels: Array, scale: float, position: float, texture: float) -> NDArray[np.float32]:
    """What pixels are compared by: channels, texture and place, each of the spread it counts."""
    height, width, n_channels = pixels.shape
    groups = [_spread_to(1.0, _smoothed(pixels, scale).reshape(-1, n_channels))]
    if texture:
        window = _WINDOW * (scale or 1.0)
        mean = _smoothed(pixels, window)
        variance = _smoothed((pixels - mean) ** 2, window)
        groups.append(_spread_to(texture, np.sqrt(variance).reshape(-1, n_channels)))
    if position:
        places = np.indices((height, width), dtype=np.float64).reshape(2, -1).T
        groups.append(_spread_to(position, places))
    return np.hstack(groups).astype(np.float32)


def _smoothed(pixels: Array, scale: float) -> Array:
    return np.asarray(gaussian_filter(pixels, (scale, scale, 0))) if scale else pixels


def _spread_to(total: float, columns: Array) -> Array:
    """Columns about their means, in units that give them this standard deviation together."""
    centred = columns - columns.mean(axis=0)
    spread = np.sqrt((centred**2).sum() / len(centred))
    return np.asarray(centred * (total / spread) if spread > 0 else centred)


def _superpixels(pixels: Array, n_segments: int) -> Indices:
    """The number of the superpixel of each pixel, row by row."""
    slic = needed("skimage.segmentation", "image").slic
    found = slic(
        pixels, n_segments, _COMPACTNESS, channel_axis=-1, convert2lab=False, start_label=0
    )
    return np.unique(found, return_inverse=True)[1].ravel()
