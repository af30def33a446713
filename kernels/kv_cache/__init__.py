"""A decode step's work on the key-value cache: append new tokens, read all of them back."""

from rooflens.kernels.kv_cache.family import KV_CACHE, KvCacheSize
from rooflens.kernels.kv_cache.variants import KERNELS

__all__ = ["KERNELS", "KV_CACHE", "KvCacheSize"]
