"""The image processor: PIL pictures to patch strips, and the placeholder text that stands for them.

Needs numpy and Pillow only; the cutting itself is in slicing.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import AutoImageProcessor, BatchFeature
from transformers.image_processing_utils import BaseImageProcessor
from transformers.processing_utils import ImagesKwargs

from .slicing import slice_image, sliced_grid


class MiniCPMVImageKwargs(ImagesKwargs, total=False):
    """What a call may change."""

    max_slice_nums: int


def _prompts(images: Any) -> list[list[Image.Image]]:
    """Return each prompt's pictures."""
    if isinstance(images, Image.Image):
        images = [[images]]
    elif len(images) and getattr(images[0], "ndim", 0) != 4 and not isinstance(images[0], list):
        images = [images]
    return [
        [one if isinstance(one, Image.Image) else Image.fromarray(one) for one in pictures]
        for pictures in images
    ]


class MiniCPMVImageProcessor(BaseImageProcessor):
    """Slices, normalises and reshapes pictures as the MiniCPM-V vision tower takes them.

    Args:
        image_feature_size: visual tokens a slice becomes, the resampler's number of queries.
        scale_resolution: pixels; a slice has at most this number squared.
        patch_size: pixels, the side of a patch.
        max_slice_nums: slices a picture at most, the overview not counted.
        use_image_id: True writes the picture's index before it.
    """

    model_input_names = ["pixel_values"]
    valid_kwargs = MiniCPMVImageKwargs

    def __init__(
        self,
        max_slice_nums: int = 9,
        scale_resolution: int = 448,
        patch_size: int = 14,
        image_feature_size: int = 64,
        use_image_id: bool = True,
        norm_mean: tuple[float, ...] = (0.5, 0.5, 0.5),
        norm_std: tuple[float, ...] = (0.5, 0.5, 0.5),
        **options: Any,
    ) -> None:
        """Keep the numbers that preprocessor_config.json holds."""
        super().__init__(**options)
        self.max_slice_nums = max_slice_nums
        self.scale_resolution = scale_resolution
        self.patch_size = patch_size
        self.image_feature_size = image_feature_size
        self.use_image_id = use_image_id
        self.norm_mean = list(norm_mean)
        self.norm_std = list(norm_std)
        self.version = 4.5
        self.unk_token = "<unk>"
        self.im_start_token, self.im_end_token = "<image>", "</image>"
        self.slice_start_token, self.slice_end_token = "<slice>", "</slice>"
        self.im_id_start, self.im_id_end = "<image_id>", "</image_id>"

    def get_sliced_grid(
        self, image_size: tuple[int, int], max_slice_nums: int | None = None
    ) -> tuple[int, int] | None:
        """Return (columns, rows) of a picture's slices, or None where it is not cut."""
        return sliced_grid(
            tuple(image_size), max_slice_nums or self.max_slice_nums, self.scale_resolution
        )

    def get_slice_image_placeholder(
        self,
        image_size: tuple[int, int],
        image_idx: int = 0,
        max_slice_nums: int | None = None,
        use_image_id: bool | None = None,
    ) -> str:
        """Return the text that stands for a picture: one <unk> a visual token."""
        features = self.unk_token * self.image_feature_size
        text = self.im_start_token + features + self.im_end_token
        if self.use_image_id if use_image_id is None else use_image_id:
            text = f"{self.im_id_start}{image_idx}{self.im_id_end}{text}"
        grid = self.get_sliced_grid(image_size, max_slice_nums)
        if grid is None:
            return text
        columns, rows = grid
        row = (self.slice_start_token + features + self.slice_end_token) * columns
        return text + "\n".join([row] * rows)

    def strip(self, image: Image.Image) -> np.ndarray:
        """Return (3, patch_size, patches × patch_size), float32: the patches side by side."""
        pixels = np.asarray(image, dtype=np.float32) / 255.0
        pixels = (pixels - np.array(self.norm_mean, np.float32)) / np.array(
            self.norm_std, np.float32
        )
        side = self.patch_size
        rows, columns = image.height // side, image.width // side
        patches = pixels.reshape(rows, side, columns, side, 3).transpose(4, 1, 0, 2, 3)
        return np.ascontiguousarray(patches.reshape(3, side, rows * columns * side))

    def preprocess(
        self,
        images: Any,
        do_pad: bool = True,
        max_slice_nums: int | None = None,
        return_tensors: Any = None,
        **options: Any,
    ) -> BatchFeature:
        """Return pixel_values, image_sizes and tgt_sizes, each a list a prompt.

        Args:
            images: a picture, a prompt's pictures, or a list of prompts' pictures; a picture may
                also be an array (height, width, 3) of bytes, as a video's frame is.
        """
        found: dict[str, list[Any]] = {"pixel_values": [], "image_sizes": [], "tgt_sizes": []}
        limit = max_slice_nums or self.max_slice_nums
        for pictures in _prompts(images):
            slices = [
                piece
                for picture in pictures
                for piece in slice_image(picture, limit, self.scale_resolution, self.patch_size)
            ]
            side = self.patch_size
            grid = [(piece.height // side, piece.width // side) for piece in slices]
            found["pixel_values"].append([torch.from_numpy(self.strip(piece)) for piece in slices])
            found["image_sizes"].append([picture.size for picture in pictures])
            found["tgt_sizes"].append(torch.tensor(grid, dtype=torch.int32).reshape(-1, 2))
        return BatchFeature(data=found)


AutoImageProcessor.register(
    "MiniCPMVImageProcessor", slow_image_processor_class=MiniCPMVImageProcessor, exist_ok=True
)
