import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def byte_maps():
    spec = importlib.util.spec_from_file_location("byte_maps", DOCS / "byte_maps.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_code_says():
    assert (DOCS / "wires.md").read_text(encoding="utf-8") == byte_maps().page(), (
        "docs/wires.md is stale: run docs/byte_maps.py"
    )


def test_offsets_are_those_of_the_packed_bytes():
    page = byte_maps().page()
    assert "| 16 | u64 | sim_time_ns (UNIX) |" in page  # the last of 24 header bytes
    assert "| 40 | f64 | t_sim (s) |" in page  # 48 bytes of telemetry
    assert "| 29 | i64 | last_gate_race_time (ns), -1 before |" in page  # 37 bytes of race status
    assert "### HIGHRES_IMU (105)" in page
