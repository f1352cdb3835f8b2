"""How a picture is cut into slices: sizes and PIL pictures only, neither numpy nor torch.

The arithmetic is that of MiniCPM-V: a picture larger than `scale_resolution` squared is sent as an
overview and as up to `max_slice_nums` slices, laid out in the grid whose shape comes closest to the
picture's.
Source: MiniCPM-V technical report (arXiv 2408.01800), section on adaptive visual encoding; the
functions keep the names that the MiniCPM-V image processor uses.
"""

from __future__ import annotations

import math

from PIL import Image


def sliced_grid(
    size: tuple[int, int], max_slice_nums: int, scale_resolution: int
) -> tuple[int, int] | None:
    """Return (columns, rows) of the slices, or None where the overview alone is sent."""
    width, height = size
    wanted = math.ceil(width * height / scale_resolution**2)
    multiple = min(wanted, max_slice_nums)
    if multiple <= 1:
        return None
    numbers = [n for n in (multiple - 1, multiple, multiple + 1) if 1 < n <= max_slice_nums]
    grids = [(n // rows, rows) for n in numbers for rows in range(n, 0, -1) if n % rows == 0]
    ratio = math.log(width / height)
    return min(grids, key=lambda grid: abs(ratio - math.log(grid[0] / grid[1])))


def _divisible(length: float, patch_size: int) -> int:
    return max(round(length / patch_size) * patch_size, patch_size)


def best_resize(
    size: tuple[float, float], scale_resolution: int, patch_size: int, *, upscale: bool = False
) -> tuple[int, int]:
    """Return the (width, height) to resize to: same shape, at most the area of one slice, whole
    patches.
    """
    width, height = size
    if upscale or width * height > scale_resolution**2:
        ratio = width / height
        height = int(scale_resolution / math.sqrt(ratio))
        width = int(height * ratio)
    return _divisible(width, patch_size), _divisible(height, patch_size)


def slice_image(
    image: Image.Image, max_slice_nums: int, scale_resolution: int, patch_size: int
) -> list[Image.Image]:
    """Return the overview, then the slices row by row, each of whole patches, in RGB."""
    image = image.convert("RGB")
    grid = sliced_grid(image.size, max_slice_nums, scale_resolution)
    if grid is None:
        size = best_resize(image.size, scale_resolution, patch_size, upscale=True)
        return [image.resize(size, Image.Resampling.BICUBIC)]
    size = best_resize(image.size, scale_resolution, patch_size)
    overview = image.resize(size, Image.Resampling.BICUBIC)
    columns, rows = grid
    whole = (_divisible(image.width, columns), _divisible(image.height, rows))
    one = (whole[0] / columns, whole[1] / rows)
    width, height = best_resize(one, scale_resolution, patch_size, upscale=True)
    refined = image.resize((width * columns, height * rows), Image.Resampling.BICUBIC)
    corners = [(x * width, y * height) for y in range(rows) for x in range(columns)]
    return [overview, *(refined.crop((x, y, x + width, y + height)) for x, y in corners)]
