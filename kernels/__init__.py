"""What is run: CUDA sources, and for each one how it is launched, checked and costed."""
