"""The judge."""

from pathlib import Path

RULES: dict[str, Path] = {"aigp": Path(__file__).parent / "data" / "aigp.toml"}
"""The bundled rule sets by name; each is a file that `race.rules` reads."""
