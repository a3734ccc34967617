"""The phases of a race, as the pilot lives them. Times on the vehicle's boot clock.

    WAIT_FOR_DATA   ask to arm, once a second, until a heartbeat says so and the IMU has levelled
    WAIT_FOR_START  silent motors until GO
    FLYING          racing
    LOST            no gate seen for 30 frames: brake and look around
    FINISHED        the race is over: hover

GO is a start time that has come, and that is newer than the boot time at which the pilot began to
wait: a status may carry the start of an earlier race (seed 001's guard). Statuses come every
250 ms, so once a fresh start is known its coming is told by the clock, a guard time late, never early.
A vehicle that is found disarmed in flight starts over; it may go on in the race that it flew in.
"""

from dataclasses import dataclass
from enum import Enum

from racewire.core.clock import NS_PER_MS, Nanos
from racewire.core.messages import Heartbeat, RaceStatus


class Phase(Enum):
    """Where the pilot is in its race."""

    WAIT_FOR_DATA = "waiting for data"
    WAIT_FOR_START = "waiting for start"
    FLYING = "flying"
    LOST = "lost"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class PhaseParams:
    """Time between two requests to arm, and after GO before moving, ms; frames until lost."""

    arm_ms: int
    guard_ms: int
    lost_frames: int


class Phases:
    """The state machine; `step` after the messages were told."""

    def __init__(self, params: PhaseParams) -> None:
        self._p = params
        self.phase = Phase.WAIT_FOR_DATA
        self.anchor_ns: Nanos | None = None
        self.start_ns: Nanos | None = None
        self._armed = False
        self._imu = False
        self._finished = False
        self._flown_ns: Nanos | None = None
        self._boot_ns: Nanos | None = None
        self._asked_ns: Nanos | None = None

    @property
    def flying(self) -> bool:
        """Whether the motors may turn."""
        return self.phase in (Phase.FLYING, Phase.LOST, Phase.FINISHED)

    def heartbeat(self, message: Heartbeat) -> None:
        """Note whether the motors are armed; its stamp is the reader's, so it says nothing of the clock."""
        self._armed = message.armed

    def imu(self, t_ns: Nanos) -> None:
        """Note that the IMU speaks, and has spoken for long enough to level."""
        self._see(t_ns)
        self._imu = True

    def race(self, status: RaceStatus) -> None:
        """Take a race status: remember a fresh start, forget one that was called off, see the finish."""
        if self.phase is Phase.WAIT_FOR_START:
            anchor = self.anchor_ns if self.anchor_ns is not None else status.t_ns
            self.anchor_ns = anchor
            start = status.start_ns
            if start != self._flown_ns:
                self._flown_ns = None
            fresh = start is not None and (start > anchor or start == self._flown_ns)
            self.start_ns = start if fresh and status.finish_ns is None else None
        elif self.flying:
            self._finished = status.finish_ns is not None and status.start_ns == self.start_ns
        self._see(status.t_ns)

    def step(self, now: Nanos, frames_blind: int) -> bool:
        """Move on to the phase that is right `now`; return whether to ask for arming.

        `frames_blind` counts the frames since a gate was last seen.
        """
        if self.phase is not Phase.WAIT_FOR_DATA and not self._armed:
            self._go(Phase.WAIT_FOR_DATA)
        if self.phase is Phase.WAIT_FOR_DATA and self._armed and self._imu:
            self._go(Phase.WAIT_FOR_START)
        guard = self._p.guard_ms * NS_PER_MS
        if self.phase is Phase.WAIT_FOR_START and self.start_ns is not None and now >= self.start_ns + guard:
            self._go(Phase.FLYING)
            self._flown_ns = self.start_ns
        if self.flying:
            if self._finished:
                self.phase = Phase.FINISHED
            else:
                self.phase = Phase.LOST if frames_blind > self._p.lost_frames else Phase.FLYING
        return self.phase is Phase.WAIT_FOR_DATA and not self._armed and self._may_ask(now)

    def _go(self, phase: Phase) -> None:
        self.phase = phase
        if phase is Phase.WAIT_FOR_DATA:
            self._finished, self.start_ns, self._asked_ns, self._imu = False, None, None, False
            self._boot_ns = None
        elif phase is Phase.WAIT_FOR_START:
            self.anchor_ns, self.start_ns = self._boot_ns, None

    def _may_ask(self, now: Nanos) -> bool:
        asked = self._asked_ns
        if asked is not None and 0 <= now - asked < self._p.arm_ms * NS_PER_MS:
            return False
        self._asked_ns = now
        return True

    def _see(self, t_ns: Nanos) -> None:
        self._boot_ns = t_ns if self._boot_ns is None else max(self._boot_ns, t_ns)
