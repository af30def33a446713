"""Runs recorded on real GPUs and shipped with rooflens, each a folder as rooflens wrote it."""
