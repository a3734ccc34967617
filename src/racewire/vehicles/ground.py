"""A body carried by a surface: nothing moves it into the surface, and Coulomb friction acts along it.

World NED, SI units, accelerations. The surface is a plane at rest with a unit normal n that points away
from it; the contact pushes and never pulls. One step of the velocity, written without a vehicle: a free
step follows where `leaves` says so, `supported_velocity` otherwise.
"""

import math

from racewire.core.jit import kernel


@kernel
def stopped_at(
    vn: float, ve: float, vd: float, nn: float, ne: float, nd: float
) -> tuple[float, float, float]:
    """Return the velocity without what of it goes into the surface."""
    closing = min(0.0, vn * nn + ve * ne + vd * nd)
    return vn - closing * nn, ve - closing * ne, vd - closing * nd


@kernel
def leaves(
    vn: float,
    ve: float,
    vd: float,
    an: float,
    ae: float,
    ad: float,
    nn: float,
    ne: float,
    nd: float,
    h: float,
) -> bool:
    """Tell whether velocity v and free acceleration a have the body move off within `h` seconds.

    What moves off slower than gravity takes back in one step stays, so that the rounding of a velocity
    along the surface is no take-off.
    """
    return (vn + h * an) * nn + (ve + h * ae) * ne + (vd + h * ad) * nd > 0.0


@kernel
def supported_velocity(
    vn: float,
    ve: float,
    vd: float,
    an: float,
    ae: float,
    ad: float,
    nn: float,
    ne: float,
    nd: float,
    friction: float,
    slow: float,
    h: float,
) -> tuple[float, float, float, bool]:
    """Return the velocity `h` seconds later of a body pressed on the surface, and whether it stands still.

    `a` is the acceleration it would have in free flight. Slower than `slow`, a body that friction can
    hold stands; a faster one is braked, and stands from the step in which friction stops it.
    """
    closing = vn * nn + ve * ne + vd * nd
    pressing = -(an * nn + ae * ne + ad * nd)
    vn, ve, vd = vn - closing * nn, ve - closing * ne, vd - closing * nd
    an, ae, ad = an + pressing * nn, ae + pressing * ne, ad + pressing * nd
    grip = friction * max(0.0, pressing)
    speed = math.sqrt(vn * vn + ve * ve + vd * vd)
    pull = math.sqrt(an * an + ae * ae + ad * ad)
    if speed < slow and pull <= grip:
        return 0.0, 0.0, 0.0, True
    if speed > 0.0:
        brake = grip / speed
        wn, we, wd = vn + h * (an - brake * vn), ve + h * (ae - brake * ve), vd + h * (ad - brake * vd)
        if pull <= grip and wn * vn + we * ve + wd * vd <= 0.0:
            return 0.0, 0.0, 0.0, True
        return wn, we, wd, False
    share = 1.0 - grip / pull
    return h * share * an, h * share * ae, h * share * ad, False
