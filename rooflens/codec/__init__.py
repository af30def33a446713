"""A Run as plain JSON values and back, exactly; raw time samples travel beside it."""

from rooflens.codec.decode import decode_run
from rooflens.codec.encode import encode_run
from rooflens.codec.samples import SampleKey, Samples, count_samples, samples_of

__all__ = ["SampleKey", "Samples", "count_samples", "decode_run", "encode_run", "samples_of"]
