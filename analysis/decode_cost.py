"""What one decoded token of a language model must read: the weights, and the cache of its tokens.

A model, not a measurement: each weight and each cached key and value is read once, the weights once
for all sequences of a batch.
"""

from dataclasses import dataclass

from rooflens.errors import UsageError

MOST = 2**31 - 1  # of anything that is counted


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeModel:
    """A model as decoding sees it.

    weight_bytes: of all weights. layers, kv_heads, dim: of the attention. cache_item_bytes: of one
    element of a key or value. batch: sequences that are decoded together.
    """

    weight_bytes: int
    layers: int
    kv_heads: int
    dim: int
    cache_item_bytes: int
    batch: int = 1

    def __post_init__(self) -> None:
        for name in ("weight_bytes", "layers", "kv_heads", "dim", "cache_item_bytes", "batch"):
            value = getattr(self, name)
            if value < 1:
                raise UsageError(f"{name} must be at least 1, got {value}")
            if name != "weight_bytes" and value > MOST:
                raise UsageError(f"{name} must be at most {MOST}")

    @property
    def token_cache_bytes(self) -> int:
        """Bytes that one token takes in the cache: a key and a value in each head and layer."""
        return 2 * self.layers * self.kv_heads * self.dim * self.cache_item_bytes

    @property
    def equal_length(self) -> float:
        """Tokens of a sequence at which the batch's caches are as many bytes as the weights."""
        return self.weight_bytes / (self.token_cache_bytes * self.batch)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeCost:
    """One decode step of a batch at one length. Bytes are read; time_s is at a bandwidth."""

    length: int
    weight_bytes: int
    cache_bytes: int
    bytes_per_token: float
    time_s: float | None
    cache_share: float


def decode_cost(model: DecodeModel, length: int, bytes_per_s: float | None) -> DecodeCost:
    """The step that decodes the token after `length` cached ones, in each sequence of the batch.

    bytes_per_token is the step's bytes over the batch: a larger batch shares the weights.
    """
    if length < 1:
        raise UsageError(f"length must be at least 1, got {length}")
    cache = model.token_cache_bytes * length * model.batch
    together = model.weight_bytes + cache
    return DecodeCost(
        length=length,
        weight_bytes=model.weight_bytes,
        cache_bytes=cache,
        bytes_per_token=together / model.batch,
        time_s=None if bytes_per_s is None else together / bytes_per_s,
        cache_share=cache / together,
    )
