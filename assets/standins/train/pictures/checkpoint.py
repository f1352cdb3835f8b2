"""Writes the model folder: configuration, weights in bf16, preprocessor and generation settings.

The Python files and the chat template in the folder are written by hand, not by this module.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from . import network, patches

SHARPEN = 1.5
"""How much the final norm is scaled before saving, which sharpens the next-token distribution."""


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def weights(model: network.Model) -> dict[str, torch.Tensor]:
    """Return the tensors under a MiniCPM-V checkpoint's names, bf16."""
    found = {name: value.detach().clone() for name, value in model.state_dict().items()}
    name = "vpm.embeddings.patch_embedding.weight"
    found[name] = network.exported(found[name])
    found["llm.model.norm.weight"] *= SHARPEN
    return {name: value.to(torch.bfloat16).contiguous() for name, value in found.items()}


def config(model: network.Model, training: dict[str, Any]) -> dict[str, Any]:
    """Return config.json: the language model's fields, the tower's, and what the class asks for."""
    language = model.llm.config.to_dict()
    for name in ("_name_or_path", "architectures", "model_type", "dtype"):
        language.pop(name, None)
    return {
        "architectures": ["MiniCPMV"],
        "model_type": "minicpmv",
        "version": "4.5",
        "auto_map": {"AutoConfig": "configuration_minicpm.MiniCPMVConfig"},
        "dtype": "bfloat16",
        **language,
        "image_size": network.SCALE,
        "patch_size": network.PATCH,
        "query_num": network.QUERIES,
        "max_slice_num": patches.MAX_SLICES,
        "drop_vision_last_layer": False,
        "vision_config": {
            "model_type": "siglip_vision_model",
            "hidden_size": network.TOWER_HIDDEN,
            "intermediate_size": network.TOWER_FFN,
            "num_hidden_layers": network.TOWER_LAYERS,
            "num_attention_heads": network.TOWER_HEADS,
            "image_size": network.SCALE,
            "patch_size": network.PATCH,
            "hidden_act": "gelu_pytorch_tanh",
            "layer_norm_eps": 1e-6,
        },
        "stand_in": True,
        "stand_in_for": "MiniCPM-V-4_5",
        "stand_in_training": training,
    }


def preprocessor() -> dict[str, Any]:
    """Return preprocessor_config.json."""
    return {
        "image_processor_type": "MiniCPMVImageProcessor",
        "processor_class": "MiniCPMVProcessor",
        "auto_map": {
            "AutoProcessor": "processing_minicpmv.MiniCPMVProcessor",
            "AutoImageProcessor": "image_processing_minicpmv.MiniCPMVImageProcessor",
        },
        "max_slice_nums": patches.MAX_SLICES,
        "scale_resolution": network.SCALE,
        "patch_size": network.PATCH,
        "image_feature_size": network.QUERIES,
        "use_image_id": True,
        "norm_mean": [0.5, 0.5, 0.5],
        "norm_std": [0.5, 0.5, 0.5],
    }


def save(model: network.Model, out: Path, ids: dict[str, int], training: dict[str, Any]) -> None:
    """Write the folder's generated files but for the tokenizer and the card."""
    path = out / "model.safetensors"
    save_file(weights(model), path, metadata={"format": "pt"})
    path.chmod(0o644)
    _write(out / "config.json", config(model, training))
    _write(out / "preprocessor_config.json", preprocessor())
    generation = {
        "bos_token_id": ids["bos"],
        "eos_token_id": [ids["eos"], ids["end"]],
        "pad_token_id": ids["pad"],
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.8,
    }
    _write(out / "generation_config.json", generation)
