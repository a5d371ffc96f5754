"""Let through only what can be proven: a live observation whose asset still has its SHA-256."""

from collections.abc import Iterable

from muniment.store.errors import DamageError, RemoteError
from muniment.store.ledger import Ledger
from muniment.store.ledger.changes import AssetFacts, Changes


class EvidenceGate:
    """Checks each asset at most once a recall.

    ``unreachable`` says that some could not be looked at: they do not pass.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._changes = Changes(ledger.database)
        self._seals = ledger.seals
        self._facts: dict[str, AssetFacts | None] = {}
        self._proven: dict[str, AssetFacts | None] = {}
        self.unreachable = False

    def facts(self, asset: str) -> AssetFacts | None:
        """Return what is known of an asset, from the ledger."""
        if asset not in self._facts:
            self.load([asset])
        return self._facts[asset]

    def load(self, assets: Iterable[str]) -> None:
        """Read the facts of many assets at once."""
        wanted = [asset for asset in dict.fromkeys(assets) if asset not in self._facts]
        found = self._changes.assets(wanted) if wanted else {}
        for asset in wanted:
            self._facts[asset] = found.get(asset)

    def passes(self, asset: str) -> bool:
        """Tell whether an asset exists and still has its bytes and hash."""
        return self.proven(asset) is not None

    def proven(self, asset: str) -> AssetFacts | None:
        """Return what is known of an asset that passes."""
        if asset not in self._proven:
            facts = self.facts(asset)
            self._proven[asset] = facts if facts is not None and self._check(facts) else None
        return self._proven[asset]

    def close(self) -> None:
        """Let the seals go."""
        self._seals.close()

    def _check(self, facts: AssetFacts) -> bool:
        if facts.storage == "file":
            return self._stored(facts.id, facts.size)
        try:
            self._ledger.assets.check(facts.number, facts.id, facts.size, facts.storage)
        except DamageError:
            return False
        return True

    def _stored(self, asset: str, size: int) -> bool:
        """Ask the asset store; one that does not answer is not asked again in this recall."""
        if self.unreachable:
            return False
        try:
            return self._ledger.assets.store.intact(asset, size, self._seals)
        except RemoteError:
            self.unreachable = True
        return False
