"""A race that ends with the first frame the pilot looked at; `bench_wire` times the whole process."""

from racewire.core.clock import NS_PER_S, Nanos
from racewire.run.race import RaceConfig, prepare


def main() -> None:
    """Run until the pilot has looked at one frame."""
    loop, run = prepare(RaceConfig())

    def done(now: Nanos) -> bool:
        return run.pilot.frames > 0 or now > NS_PER_S

    loop.run(done)


if __name__ == "__main__":
    main()
