"""What was forgotten does not come in again unasked: the one place where the stages ask."""

from typing import TYPE_CHECKING

from muniment.store.forgetting.erase import claim_parts
from muniment.store.forgetting.tombstones import message_parts

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger
    from muniment.store.records import Claim, Observation

FORGOTTEN = "forgotten"


class Admission:
    """Asks the forget list of one ledger; ``allow`` lifts what stands in the way, for good."""

    def __init__(self, ledger: "Ledger", *, allow: bool = False) -> None:
        self._ledger = ledger
        self._tombstones = ledger.tombstones
        self._allow = allow
        self._refused: list[str] = []

    def is_forgotten(self, asset: str) -> bool:
        """Tell whether an asset was erased, or is hidden."""
        return self._tombstones.blocks("asset", asset) or self._tombstones.hides(asset)

    def admits_asset(self, asset: str) -> bool:
        """Tell whether an asset may be named by a row; its bytes may lie there already."""
        if not self._tombstones.admits("asset", asset, allow=self._allow):
            self._refused.append(asset)
            return False
        if not self._tombstones.hides(asset):
            return True
        if self._allow:
            from muniment.pipeline.forgetting.hiding import bring_back

            bring_back(self._ledger, asset)
        return self._allow

    def admits_observation(self, found: "Observation", instant: str | None) -> bool:
        """Tell whether a message may be read again, from whatever file."""
        parts = message_parts(found.author, instant, found.text)
        return parts is None or self._tombstones.admits("message", *parts, allow=self._allow)

    def admits_claim(self, claim: "Claim") -> bool:
        """Tell whether a claim may be proposed again from the same words."""
        return all(
            self._tombstones.admits(
                "claim",
                *claim_parts(item.observation, claim.subject, claim.key, claim.value, claim.text),
                allow=self._allow,
            )
            for item in claim.evidence
        )

    def discard(self) -> None:
        """Remove the bytes of what was refused; call it after the unit."""
        for asset in self._refused:
            if self._ledger.assets.number(asset) is None:
                self._ledger.assets.store.remove(asset)
        self._refused.clear()
