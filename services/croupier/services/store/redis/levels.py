"""What an acknowledgement means: how safe a commit is when it is answered."""

from __future__ import annotations

from croupier.services.store.redis_address import Address

MEMORY, FSYNC = "memory", "fsync"


def least(address: Address, *, as_required: bool = True) -> str:
    """Return how safe a commit is as soon as the server, if as required, has answered."""
    return FSYNC if address.fsync == "always" and as_required else MEMORY


def asked(address: Address, *, as_required: bool = True) -> str:
    """Return how safe a commit is when its answer has waited in time."""
    own = FSYNC if address.fsync != "everysec" and as_required else MEMORY
    return reached(address, own, address.replicas)


def reached(address: Address, own: str, replicas: int) -> str:
    """Return the level of a commit that is so safe on its server, and on so many replicas."""
    if not replicas:
        return own
    kind = "replicas_fsync" if address.replicas_fsync else "replicas"
    return f"{own}+{kind}:{min(replicas, address.replicas)}"
