"""What became of batches whose creation nobody heard the end of: told by the provider, not guessed."""

from __future__ import annotations

from agentanvil.client.batch.api import BatchApi
from agentanvil.errors import CallError
from agentanvil.runner.batch.access import World
from agentanvil.runner.batch.ledger import Ledger, Part

SETTLE_S = 60.0
"""How long a creation that was cut off may still come to life at the provider."""
UNCREATED = "never created"


async def recover(api: BatchApi, ledger: Ledger, world: World) -> tuple[Part, ...]:
    """Settle every open part without a batch; return those that cannot be settled yet.

    Raises CallError where the provider does not answer.
    """
    open_ = [part for part in ledger.open if part.batch is None]
    unsettled = []
    for part in open_:
        if api.uploads and part.file is None:
            ledger.note_closed(part, UNCREATED)
            continue
        known = frozenset(other.batch for other in ledger.parts.values() if other.batch is not None)
        found = await api.recover(part.mark(ledger.run), known)
        if found.found is not None:
            ledger.note("created", part=part.number, batch=found.found.id)
            world.listener.notice(f"batch {found.found.id} had been created when a submission broke off; it is kept")
        elif found.unsure or world.time.clock() < part.at + SETTLE_S:
            unsettled.append(part)
        else:
            ledger.note_closed(part, UNCREATED)
    for part in unsettled:
        world.listener.notice(_unsettled(part, world.time.clock()))
    return tuple(unsettled)


def _unsettled(part: Part, now: float) -> str:
    """Return what to say about a part whose fate is open."""
    left = part.at + SETTLE_S - now
    when = f"in {left:.0f} s" if left > 0 else "when the provider's other batches of the same size have ended"
    return f"it is not known whether the batch of {part.tasks} requests was created: run this again {when}"


def lost_on_the_way(error: CallError, part: Part) -> str:
    """Return what to say where handing over a part broke off."""
    return (
        f"{error.message}; whether the batch of {part.tasks} requests was created will be found out by the next "
        "`anvil batch` command"
    )
