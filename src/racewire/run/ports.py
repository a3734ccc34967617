"""Which UDP ports each end of a wire binds and sends to.

The simulator's end sends to fixed addresses, unprompted, as the original does; the pilot's end answers
whoever sent to it. `base` shifts every port, so that several pairs fit on a machine.
"""

from racewire.core.errors import ConfigError
from racewire.run.sockets import Port
from racewire.wires import WIRES

LOCALHOST = "127.0.0.1"
_HIGHEST = 65_535


def sim_ports(wire: str, base: int, bind: str = LOCALHOST, peer: str = LOCALHOST) -> list[Port]:
    """Return the simulator's sockets: bound on `bind`, sending to the pilot at `peer`.

    Raises
    ------
    ConfigError
        If `base` shifts a port out of range.
    """
    rows = WIRES[wire].ports
    return [Port(c.channel, (bind, _shift(c.sim, base)), (peer, _shift(c.pilot, base))) for c in rows]


def pilot_ports(wire: str, base: int, bind: str = LOCALHOST, host: str = LOCALHOST) -> list[Port]:
    """Return the pilot's sockets: bound on `bind`, sending first to the simulator at `host`.

    Raises
    ------
    ConfigError
        If `base` shifts a port out of range.
    """
    rows = WIRES[wire].ports
    return [
        Port(c.channel, (bind, _shift(c.pilot, base)), (host, _shift(c.sim, base)), follow=True) for c in rows
    ]


def _shift(port: int, base: int) -> int:
    if not 0 < port + base <= _HIGHEST:
        raise ConfigError(f"--port-base {base} moves port {port} out of range")
    return port + base
