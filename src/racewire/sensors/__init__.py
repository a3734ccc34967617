"""Truth in, measurement out."""
