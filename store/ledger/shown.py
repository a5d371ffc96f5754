"""Which claims may be shown: a forgotten one is not, nor one whose evidence is all hidden."""

# The records that a forget hides.
FORGOTTEN = (
    "SELECT m.record FROM tombstone_member m WHERE m.record IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq)"
)
# Conditions on ``record_now r`` and on ``candidate_now c``.
RECORD = (
    f"r.record NOT IN ({FORGOTTEN}) AND EXISTS (SELECT 1 FROM record_evidence e "
    "JOIN observation_kept o ON o.seq = e.observation WHERE e.version = r.version_seq)"
)
CANDIDATE = (
    "coalesce(c.reason, '') <> 'forgotten' AND EXISTS (SELECT 1 FROM candidate_evidence e "
    "JOIN observation_kept o ON o.seq = e.observation WHERE e.candidate = c.seq) "
    f"AND c.seq NOT IN (SELECT v.candidate FROM record_version v WHERE v.record IN ({FORGOTTEN}) "
    "UNION SELECT s.candidate FROM record_support s JOIN record_version v ON v.seq = s.version "
    f"WHERE v.record IN ({FORGOTTEN}))"
)
