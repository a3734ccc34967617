"""Write `docs/wires.md`: the byte maps of every wire, from the code that packs the bytes.

Run it with `uv run python docs/byte_maps.py`; `tests/docs/test_byte_maps.py` fails where the page is stale.
"""

import struct
from pathlib import Path
from typing import Any

from pymavlink.dialects.v20 import common

from racewire.wires import WIRES, race_data, raw, video
from racewire.wires.profile import load_profile, profile_names

OUT = Path(__file__).with_name("wires.md")

TO_PILOT = (
    "HEARTBEAT",
    "HIGHRES_IMU",
    "ATTITUDE",
    "LOCAL_POSITION_NED",
    "ODOMETRY",
    "ACTUATOR_OUTPUT_STATUS",
    "DATA_TRANSMISSION_HANDSHAKE",
    "ENCAPSULATED_DATA",
    "TIMESYNC",
    "COMMAND_ACK",
    "COLLISION",
)
TO_SIM = (
    "HEARTBEAT",
    "TIMESYNC",
    "COMMAND_LONG",
    "SET_ATTITUDE_TARGET",
    "SET_POSITION_TARGET_LOCAL_NED",
    "SET_ACTUATOR_CONTROL_TARGET",
)
STRUCTS: tuple[tuple[str, struct.Struct, tuple[str, ...]], ...] = (
    (
        "Video header, before up to 1376 bytes of the JPEG",
        video._HEADER,
        ("frame_id", "chunk_id", "total_chunks", "jpeg_size", "payload_size", "sim_time_ns (UNIX)"),
    ),
    (
        "Race status, in ENCAPSULATED_DATA",
        race_data._STATUS,
        (
            "type = 1",
            "sim_boot_time_ms",
            "race_start_boot_time_ms, -1 before",
            "race_finish_time_ns, -1 before",
            "active_gate_index",
            "last_gate_race_time (ns), -1 before",
        ),
    ),
    ("Track chunk, in ENCAPSULATED_DATA", race_data._CHUNK_HEADER, ("type = 2", "transfer id")),
    ("Track body: gate count, then the gates", race_data._COUNT, ("gate count",)),
    (
        "One gate of the track",
        race_data._GATE,
        ("id", "north (m)", "east (m)", "down (m)", "qw", "qx", "qy", "qz", "width (m)", "height (m)"),
    ),
    (
        "Raw wire, telemetry",
        raw._TELEMETRY,
        (
            *(f"q{c}" for c in "wxyz"),
            *(f"body rate {c} (rad/s)" for c in "pqr"),
            *(f"specific force {c} (m/s^2)" for c in "xyz"),
            "t_sim (s)",
        ),
    ),
    ("Raw wire, command", raw._COMMAND, ("throttle", "roll", "pitch", "yaw")),
)
_TYPES = {"B": "u8", "H": "u16", "I": "u32", "Q": "u64", "q": "i64", "f": "f32", "d": "f64"}


def page() -> str:
    """Return the whole page."""
    parts = [
        "# The wires, byte by byte",
        "Generated from the code by `docs/byte_maps.py`. Everything is little-endian.",
        "## Ports",
        *_ports(),
        "## Builds of the AIGP simulator",
        *_builds(),
        "## Structures of our own reading",
        *(_structure(*row) for row in STRUCTS),
        "## MAVLink 2, simulator to pilot",
        "Payloads in wire order, framed as MAVLink 2 (0xFD); trailing zeros are cut.",
        *(_mavlink(name) for name in TO_PILOT),
        "## MAVLink 2, pilot to simulator",
        *(_mavlink(name) for name in TO_SIM if name not in TO_PILOT),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _ports() -> list[str]:
    rows = [(name, port.channel, port.sim, port.pilot) for name, kind in WIRES.items() for port in kind.ports]
    return [_table(("wire", "channel", "simulator binds", "pilot binds"), rows)]


def _builds() -> list[str]:
    profiles = {name: load_profile(name) for name in profile_names()}
    topics = sorted({topic for profile in profiles.values() for topic in profile.rates})
    rows: list[tuple[object, ...]] = []
    for topic in topics:
        rates = (profile.rates.get(topic) for profile in profiles.values())
        rows.append((topic, *("-" if rate is None else f"{rate:g}" for rate in rates)))
    masks = [
        ", ".join(f"{s.type_mask}: {s.meaning}" for s in profile.commands.setpoints)
        for profile in profiles.values()
    ]
    rows.append(("type_mask of SET_ATTITUDE_TARGET", *masks))
    return ["Rates in Hz; - is never sent.", _table(("", *profiles), rows)]


def _structure(title: str, layout: struct.Struct, names: tuple[str, ...]) -> str:
    codes = _expand(layout.format)
    assert len(codes) == len(names), title
    rows: list[tuple[object, ...]] = []
    offset = 0
    for code, name in zip(codes, names, strict=True):
        rows.append((offset, _TYPES[code], name))
        offset += struct.calcsize("<" + code)
    return f"### {title}\n\n{layout.size} bytes, `{layout.format}`\n\n" + _table(
        ("at", "type", "field"), rows
    )


def _expand(layout: str) -> str:
    """Return one code a value: "<4fd" gives "ffffd"."""
    out, count = "", ""
    for char in layout.lstrip("<"):
        if char.isdigit():
            count += char
        else:
            out, count = out + char * int(count or 1), ""
    return out


def _mavlink(name: str) -> str:
    kind: Any = getattr(common, f"MAVLink_{name.lower()}_message")
    types = dict(zip(kind.fieldnames, kind.fieldtypes, strict=True))
    lengths = dict(zip(kind.ordered_fieldnames, kind.array_lengths, strict=True))
    rows: list[tuple[object, ...]] = []
    offset = 0
    for field in kind.ordered_fieldnames:
        many = lengths[field]
        rows.append((offset, types[field] + (f"[{many}]" if many else ""), field))
        offset += _SIZES[types[field]] * max(1, many)
    return f"### {name} ({kind.id})\n\n" + _table(("at", "type", "field"), rows)


_SIZES = {
    "uint8_t": 1,
    "int8_t": 1,
    "char": 1,
    "uint16_t": 2,
    "int16_t": 2,
    "uint32_t": 4,
    "int32_t": 4,
    "float": 4,
    "uint64_t": 8,
    "int64_t": 8,
    "double": 8,
}

if __name__ == "__main__":
    OUT.write_text(page(), encoding="utf-8")
