"""The processor that holds tokenizer and image processor together, as AutoProcessor wants it.

vLLM takes the tokenizer from it and brings a processor of its own for the rest.
"""

from __future__ import annotations

from typing import Any

from transformers import BatchFeature
from transformers.processing_utils import ProcessorMixin


class MiniCPMVProcessor(ProcessorMixin):
    """Tokenizer and image processor of the checkpoint."""

    def __init__(self, image_processor: Any = None, tokenizer: Any = None, **options: Any) -> None:
        """Keep both."""
        super().__init__(image_processor, tokenizer, **options)

    def __call__(self, text: str, images: Any = None, **options: Any) -> BatchFeature:
        """Return the token ids of one prompt and, with pictures, what the tower takes."""
        if not images:
            return BatchFeature(data=dict(self.tokenizer(text)))
        pictures = self.image_processor.preprocess(images)
        pattern = "(<image>./</image>)"
        for index, size in enumerate(pictures["image_sizes"][0]):
            placeholder = self.image_processor.get_slice_image_placeholder(size, index)
            text = text.replace(pattern, placeholder, 1)
        return BatchFeature(data={**self.tokenizer(text), **pictures})
