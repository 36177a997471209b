"""What well-known libraries return, by the names of their functions and classes: models, mostly.

An installed library is looked up (`Program.outside_kind`), but most checks run where none is, or before the answer is
there. The names below are the public ways to a model with weights that learn, in the libraries that people fine-tune
models of; what a method does that runs without gradients is in `analyzers/prelude/presumed/objects.py`.
"""

from __future__ import annotations

import re
from functools import cache

_OF_TRANSFORMERS = r"Model|ModelWithProjection|For[A-Z]\w*"
_OF_DIFFUSERS = r"\w*(?:UNet|Autoencoder|Transformer|ControlNet|Adapter|VQModel|Prior)\w*"
_OF_SEGMENTATION = r"Unet\w*|MAnet|Linknet|FPN|PSPNet|PAN|DeepLabV3\w*"
_NO_MODELS = r"(?!\w*(?:Config|Tokenizer|Processor|Collator|Extractor|Criteri|Output|Trainer|Mask|Dataset|Scheduler))"
_LOADED = r"(?:\.from_pretrained|\.from_encoder_decoder_pretrained|\.from_config|\.from_unet|\._from_config)?"

_MAKERS = (
    (r"sentence_transformers\.(?:\w+\.)*(?:SentenceTransformer|CrossEncoder)", "Embedder"),
    (rf"transformers\.(?:[a-z]\w*\.)*{_NO_MODELS}\w*(?:{_OF_TRANSFORMERS}){_LOADED}", "Generator"),
    (r"(?:diffusers|transformers)\.(?:[a-z]\w*\.)*\w*Pipeline\w*\.from_(?:pretrained|single_file)", "Pipeline"),
    (rf"diffusers\.(?:[a-z]\w*\.)*(?!\w*Pipeline){_NO_MODELS}{_OF_DIFFUSERS}{_LOADED}", "Model"),
    (r"torchvision\.models\.(?!feature_extraction|list_models|get_)(?:[a-z]\w*\.)*[a-z]\w*", "Model"),
    (r"torchvision\.models\.get_model", "Model"),
    (r"torchvision\.models\.(?:[a-z]\w*\.)+\w*(?:Head|Predictor|Classifier)", "Model"),
    (r"torchaudio\.models\.\w+", "Model"),
    (r"timm\.(?:models\.)?create_model", "Model"),
    (r"torch\.hub\.load", "Model"),
    (r"open_clip\.create_model", "Model"),
    (r"open_clip\.create_model_and_transforms", "Model, and two"),
    (r"open_clip\.create_model_from_pretrained|clip\.load", "Model, and one"),
    (rf"segmentation_models_pytorch\.(?:create_model|(?:\w+\.)*(?:{_OF_SEGMENTATION}))", "Model"),
    (r"efficientnet_pytorch\.EfficientNet\.from_(?:pretrained|name)", "Model"),
    (r"torchmetrics\.(?:[a-z]\w*\.)*[A-Z]\w*", "Metric"),
    (r"monai\.networks\.nets\.(?:\w+\.)*[A-Z]\w*", "Model"),
)
"""Patterns of dotted names, and the class of `analyzers/prelude/presumed/objects.py` that stands for the result, or for
its first part where that many others come with it."""

OTHERS = {"": 0, "and one": 1, "and two": 2}

_KNOWN = tuple((re.compile(pattern), made) for pattern, made in _MAKERS)


@cache
def made_by(dotted: str) -> str | None:
    """The class that stands for what a function or class of a library returns, None if that is not known."""
    return next((made for pattern, made in _KNOWN if pattern.fullmatch(dotted)), None)
