"""One file per library: what to install, which programs it provides, and how they are called.

A file that declares ``PEERS`` takes part in the comparison; nothing else has to be changed.  The
programs in ``DOCUMENTED`` are called as their documentation says, for the study "why".
"""

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from studies.peers.contract import Peer


class UnknownPeer(ValueError):
    """No adapter declares a peer of this name."""


def all_peers(declared: str = "PEERS") -> tuple[Peer, ...]:
    """Return every declared peer, ours first, then by name; names must be unique."""
    found: list[Peer] = []
    for module in pkgutil.iter_modules(__path__):
        found += getattr(import_module(f"{__name__}.{module.name}"), declared, ())
    names = [peer.name for peer in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UnknownPeer(f"two adapters declare {twice[0]!r}; each peer needs a name of its own")
    ours = [peer for peer in found if peer.environment is None]
    return (*ours, *sorted(set(found) - set(ours), key=lambda peer: peer.name))


def documented_peers() -> tuple[Peer, ...]:
    """Return the programs that are called as their documentation says."""
    return all_peers("DOCUMENTED")


def peer_named(name: str) -> Peer:
    """Return the peer of this name."""
    known = {peer.name: peer for peer in (*all_peers(), *documented_peers())}
    if name not in known:
        raise UnknownPeer(f"there is no peer {name!r}; the peers are {', '.join(known)}")
    return known[name]


def chosen_peers(names: Sequence[str], peers: tuple[Peer, ...] | None = None) -> tuple[Peer, ...]:
    """Return the named peers; "ours" stands for all of ours, and no names for all peers."""
    peers = all_peers() if peers is None else peers
    if not names:
        return peers
    ours = [peer.name for peer in peers if peer.environment is None]
    wanted = [each for name in names for each in (ours if name == "ours" else [name])]
    return tuple(peer_named(name) for name in dict.fromkeys(wanted))
