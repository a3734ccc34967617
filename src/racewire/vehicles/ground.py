"""A body carried by a surface: no acceleration into it, and Coulomb friction along it.

World NED, SI units, accelerations. The surface is a plane with a unit normal that points away from it,
at rest; the contact pushes and never pulls. `supported_velocity` is one step of the velocity, written
without a vehicle, so that any vehicle that slides on an airframe can use it.
"""

import math

from racewire.core.jit import kernel


@kernel
def leaves(
    vn: float, ve: float, vd: float, an: float, ae: float, ad: float, nn: float, ne: float, nd: float
) -> bool:
    """Tell whether a body with velocity v and free acceleration a moves off the surface with normal n."""
    closing = vn * nn + ve * ne + vd * nd
    return closing > 0.0 or (closing == 0.0 and an * nn + ae * ne + ad * nd > 0.0)


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
    hold stands; a faster one is braked, and stands from the instant friction has stopped it.
    """
    closing = vn * nn + ve * ne + vd * nd
    pressing = max(0.0, -(an * nn + ae * ne + ad * nd))
    vn, ve, vd = vn - closing * nn, ve - closing * ne, vd - closing * nd
    an, ae, ad = an + pressing * nn, ae + pressing * ne, ad + pressing * nd
    grip = friction * pressing
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
