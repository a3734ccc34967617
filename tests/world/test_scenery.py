import itertools
import math

import numpy as np
import pytest

from racewire.core.frames import Vec
from racewire.core.seeds import stream
from racewire.world.layout import Block
from racewire.world.scenery import distance_to_line, scatter

LINE = (Vec(0.0, 0.0, 0.0), Vec(-40.0, 5.0, 3.0), Vec(-60.0, 30.0, -4.0))


def test_distance_to_a_turned_block_is_exact():
    block = Block(Vec(1.0, 1.0, 0.0), Vec(4.0, 2.0, 2.0), math.pi / 2.0)
    points = np.array(((1.0, 5.0, 0.0), (5.0, 6.0, 0.0), (1.0, 1.0, 0.4)))
    apart = [distance_to_line(block, points[i : i + 1]) for i in range(3)]
    assert apart == pytest.approx([2.0, math.hypot(3.0, 3.0), -0.6])
    assert distance_to_line(block, points) == distance_to_line(block, points[2:])


def test_blocks_keep_their_distance_and_stand_above_the_floor():
    blocks = scatter(stream(1, "blocks"), LINE, 40, 8.0, 12.0, 15.0)
    assert len(blocks) > 20
    line = np.concatenate([np.linspace(a.array(), b.array(), 300) for a, b in itertools.pairwise(LINE)])
    for block in blocks:
        assert distance_to_line(block, line) > 7.9
        assert block.centre.z + 0.5 * block.size.z <= 15.05
    assert {math.copysign(1.0, block.centre.y) for block in blocks} == {1.0, -1.0}
