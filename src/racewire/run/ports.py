"""Which UDP ports each end of a wire binds and sends to.

The simulator's end sends to fixed addresses, unprompted, as the original does; the pilot's end answers
whoever sent to it. `base` shifts every port, so that several pairs fit on a machine.
"""

from racewire.core.errors import ConfigError
from racewire.run.sockets import Port
from racewire.wires import WIRES

LOCALHOST = "127.0.0.1"
CONTROL_PORT = 14570
"""TCP, of the control channel."""

LOCKSTEP_PORT = 14571
"""UDP, of the lockstep channel."""

_HIGHEST = 65_535


def sim_ports(
    wire: str, base: int, bind: str = LOCALHOST, peer: str = LOCALHOST, *, follow: bool = False
) -> list[Port]:
    """Return the simulator's sockets: bound on `bind`, sending to the pilot at `peer`.

    With `follow` they send to whoever spoke last instead, once somebody has.

    Raises
    ------
    ConfigError
        If `base` shifts a port out of range.
    """
    rows = WIRES[wire].ports
    return [
        Port(c.channel, (bind, shifted(c.sim, base)), (peer, shifted(c.pilot, base)), follow=follow)
        for c in rows
    ]


def pilot_ports(wire: str, base: int, bind: str = LOCALHOST, host: str = LOCALHOST) -> list[Port]:
    """Return the pilot's sockets: bound on `bind`, sending first to the simulator at `host`.

    Raises
    ------
    ConfigError
        If `base` shifts a port out of range.
    """
    rows = WIRES[wire].ports
    return [
        Port(c.channel, (bind, shifted(c.pilot, base)), (host, shifted(c.sim, base)), follow=True)
        for c in rows
    ]


def shifted(port: int, base: int) -> int:
    """Return a port shifted by `base`.

    Raises
    ------
    ConfigError
        If that is out of range.
    """
    if not 0 < port + base <= _HIGHEST:
        raise ConfigError(f"--port-base {base} moves port {port} out of range")
    return port + base
