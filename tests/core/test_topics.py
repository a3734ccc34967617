import dataclasses
import typing

from racewire.core import messages
from racewire.core.topics import TOPIC_OF, TOPICS


def test_every_message_has_one_topic_and_a_stamp():
    types = typing.get_args(messages.Message)
    assert {topic.type for topic in TOPICS.values()} == set(types)
    assert len(TOPIC_OF) == len(TOPICS)
    for message in types:
        assert dataclasses.fields(message)[0].name == "t_ns"


def test_stale_comes_after_the_period():
    for topic in TOPICS.values():
        if topic.rate_hz:
            assert topic.stale_ns > 1e9 / topic.rate_hz
