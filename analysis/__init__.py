"""What the numbers mean, as pure functions: hardware, rooflines, statistics."""
