"""From a pose to a camera frame: scene, rasteriser, JPEG."""

LOOKS: dict[str, str] = {"vq1": "vq1.toml", "vq2": "vq1.toml"}
"""File in `data/` by the look that a course names. The hangar is not drawn yet: it is shown as the void."""
