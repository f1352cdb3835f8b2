"""The configuration of a MiniCPM-V 4.5 checkpoint: a Qwen3 configuration with a vision tower's.

Loaded from the model folder because config.json names it under `auto_map`, which is why serving
needs --trust-remote-code, as it does for the real model.
"""

from __future__ import annotations

from typing import Any

from transformers import Qwen3Config, SiglipVisionConfig


class MiniCPMVConfig(Qwen3Config):
    """Fields beside Qwen3's: those that vLLM's MiniCPM-V 4.5 class reads."""

    model_type = "minicpmv"

    def __init__(
        self,
        vision_config: dict[str, Any] | SiglipVisionConfig | None = None,
        query_num: int = 64,
        image_size: int = 448,
        patch_size: int = 14,
        drop_vision_last_layer: bool = False,
        version: str = "4.5",
        **options: Any,
    ) -> None:
        """Build both halves; `vision_config` may be the dictionary that config.json holds."""
        if not isinstance(vision_config, SiglipVisionConfig):
            vision_config = SiglipVisionConfig(**(vision_config or {}))
        self.vision_config = vision_config
        self.query_num = query_num
        self.image_size = image_size
        self.patch_size = patch_size
        self.drop_vision_last_layer = drop_vision_last_layer
        self.version = version
        super().__init__(**options)
