"""Every sign of the AIGP simulator's wire as a named conversion between truth and wire.

Truth is FRD/NED in SI units; "wire" is the number in the packet. The simulator is mirrored in places:
its gyro and its attitude rates are negated on all axes, ATTITUDE has pitch and yaw negated, ODOMETRY's
quaternion is the true one mirrored in the body's x-z plane, and its velocity is the true world
velocity seen through that mirrored attitude. Which axes are turned is data of the build profile;
how they are used stands here. Source: spec aigp.md, sections 1.3, 1.7 and 4.2.
"""

import math
from dataclasses import dataclass, fields

from racewire.core.frames import Frd, Gate, Ned, Rot, Vec

Triple = tuple[float, float, float]
Quadruple = tuple[float, float, float, float]


class WireBody:
    """Body axes as ODOMETRY has them: FRD turned by the mirrored instead of the true attitude."""


class Published:
    """Gate axes as the track message has them: x across the opening, y through it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """One +1 or -1 per axis (x, y, z; roll, pitch, yaw): wire = sign * truth."""

    specific_force: Triple
    gyro: Triple
    euler: Triple
    attitude_rates: Triple
    quaternion: Triple
    odometry_rates: Triple
    stick: Triple
    physical: Triple

    def __post_init__(self) -> None:
        """Check that they are signs.

        Raises
        ------
        ValueError
            If one is neither +1 nor -1.
        """
        for field in fields(self):
            if any(abs(sign) != 1.0 for sign in getattr(self, field.name)):
                message = f"{field.name}: each sign must be 1 or -1, not {getattr(self, field.name)}"
                raise ValueError(message)

    def specific_force_to_wire(self, force: Vec[Frd]) -> Triple:
        """Return HIGHRES_IMU's xacc, yacc, zacc (m/s^2) of a specific force."""
        return _turned(self.specific_force, force)

    def specific_force_from_wire(self, x: float, y: float, z: float) -> Vec[Frd]:
        """Return the specific force (m/s^2) of HIGHRES_IMU's xacc, yacc, zacc."""
        return Vec(*_turned(self.specific_force, Vec(x, y, z)))

    def gyro_to_wire(self, rates: Vec[Frd]) -> Triple:
        """Return HIGHRES_IMU's xgyro, ygyro, zgyro (rad/s) of body rates."""
        return _turned(self.gyro, rates)

    def gyro_from_wire(self, x: float, y: float, z: float) -> Vec[Frd]:
        """Return the body rates (rad/s) of HIGHRES_IMU's xgyro, ygyro, zgyro."""
        return Vec(*_turned(self.gyro, Vec(x, y, z)))

    def attitude_to_wire(self, ned_from_frd: Rot[Ned, Frd]) -> Triple:
        """Return ATTITUDE's roll, pitch, yaw (rad) of an attitude."""
        return _turned(self.euler, Vec(*ned_from_frd.euler()))

    def attitude_from_wire(self, roll: float, pitch: float, yaw: float) -> Rot[Ned, Frd]:
        """Return the attitude of ATTITUDE's roll, pitch, yaw (rad)."""
        return Rot.from_euler(*_turned(self.euler, Vec(roll, pitch, yaw)))

    def attitude_rates_to_wire(self, rates: Vec[Frd]) -> Triple:
        """Return ATTITUDE's rollspeed, pitchspeed, yawspeed (rad/s) of body rates."""
        return _turned(self.attitude_rates, rates)

    def attitude_rates_from_wire(self, roll: float, pitch: float, yaw: float) -> Vec[Frd]:
        """Return the body rates (rad/s) of ATTITUDE's rollspeed, pitchspeed, yawspeed."""
        return Vec(*_turned(self.attitude_rates, Vec(roll, pitch, yaw)))

    def quaternion_to_wire(self, ned_from_frd: Rot[Ned, Frd]) -> Rot[Ned, WireBody]:
        """Return the attitude as ODOMETRY's q has it."""
        q = ned_from_frd
        return Rot(q.w, *_turned(self.quaternion, Vec(q.x, q.y, q.z)))

    def quaternion_from_wire(self, ned_from_wire_body: Rot[Ned, WireBody]) -> Rot[Ned, Frd]:
        """Return the attitude of ODOMETRY's q."""
        q = ned_from_wire_body
        return Rot(q.w, *_turned(self.quaternion, Vec(q.x, q.y, q.z)))

    def velocity_to_wire(self, velocity: Vec[Ned], ned_from_frd: Rot[Ned, Frd]) -> Vec[WireBody]:
        """Return ODOMETRY's vx, vy, vz (m/s): the world velocity seen through the wire's attitude."""
        return self.quaternion_to_wire(ned_from_frd).inverse() @ velocity

    def velocity_from_wire(self, velocity: Vec[WireBody], ned_from_wire_body: Rot[Ned, WireBody]) -> Vec[Ned]:
        """Return the world velocity (m/s) of ODOMETRY's vx, vy, vz, with its q as it came."""
        return ned_from_wire_body @ velocity

    def odometry_rates_to_wire(self, rates: Vec[Frd]) -> Triple:
        """Return ODOMETRY's rollspeed, pitchspeed, yawspeed (rad/s) of body rates."""
        return _turned(self.odometry_rates, rates)

    def odometry_rates_from_wire(self, roll: float, pitch: float, yaw: float) -> Vec[Frd]:
        """Return the body rates (rad/s) of ODOMETRY's rollspeed, pitchspeed, yawspeed."""
        return Vec(*_turned(self.odometry_rates, Vec(roll, pitch, yaw)))

    def stick_to_wire(self, stick: Triple) -> Triple:
        """Return SET_ATTITUDE_TARGET's body rates for sticks (+ right, nose up, clockwise)."""
        return _turned(self.stick, Vec(*stick))

    def stick_from_wire(self, roll: float, pitch: float, yaw: float) -> Triple:
        """Return the sticks (+ right, nose up, clockwise) of SET_ATTITUDE_TARGET's body rates."""
        return _turned(self.stick, Vec(roll, pitch, yaw))

    def physical_to_wire(self, rates: Vec[Frd]) -> Triple:
        """Return SET_ATTITUDE_TARGET's body rates where they mean rad/s, of true body rates."""
        return _turned(self.physical, rates)

    def physical_from_wire(self, roll: float, pitch: float, yaw: float) -> Vec[Frd]:
        """Return the true body rates (rad/s) of SET_ATTITUDE_TARGET where they mean rad/s."""
        return Vec(*_turned(self.physical, Vec(roll, pitch, yaw)))


def attitude_from_target(ned_from_target: Rot[Ned, WireBody]) -> Rot[Ned, Frd]:
    """Return the true attitude that SET_ATTITUDE_TARGET's quaternion asks a late build to hold.

    Such a build takes the tilt before the yaw: it reads the quaternion as Rx(r) Ry(p) Rz(y) and flies the
    roll -r, pitch p and yaw -y. The inverse of that product is the usual Euler angles of -r, -p, -y.
    """
    roll, pitch, yaw = ned_from_target.inverse().euler()
    return Rot.from_euler(roll, -pitch, yaw)


def target_from_attitude(ned_from_frd: Rot[Ned, Frd]) -> Rot[Ned, WireBody]:
    """Return the quaternion of SET_ATTITUDE_TARGET for a true attitude; see `attitude_from_target`."""
    roll, pitch, yaw = ned_from_frd.euler()
    target_from_ned: Rot[WireBody, Ned] = Rot.from_euler(roll, -pitch, yaw)
    return target_from_ned.inverse()


_GATE_FROM_PUBLISHED: Rot[Gate, Published] = Rot.from_euler(0.0, 0.0, -0.5 * math.pi)


def published_gate(ned_from_gate: Rot[Ned, Gate]) -> Quadruple:
    """Return the quaternion (w, x, y, z) the track message has for a gate flown through along its x."""
    q = ned_from_gate @ _GATE_FROM_PUBLISHED
    return q.w, q.x, q.y, q.z


def gate_from_published(w: float, x: float, y: float, z: float) -> Rot[Ned, Gate]:
    """Return the gate's attitude of a published quaternion: flown through 90 deg right of its x.

    Raises
    ------
    ValueError
        If the quaternion is zero or not finite.
    """
    ned_from_published: Rot[Ned, Published] = Rot.from_quaternion(w, x, y, z)
    return ned_from_published @ _GATE_FROM_PUBLISHED.inverse()


def _turned(signs: Triple, v: "Vec[Frd] | Vec[Ned]") -> Triple:
    return signs[0] * v.x + 0.0, signs[1] * v.y + 0.0, signs[2] * v.z + 0.0  # no -0.0 in the packets
