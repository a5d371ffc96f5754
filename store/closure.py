"""What closure means, as statements: what cites what, and the rows that cite nothing.

``EVIDENCE`` gives (ref, observation, its text, quote, start, end) of every claim in force and of
every name that stands in a text. The others name rows that break a promise, and rows that merely
lost their support.
"""

EVIDENCE = {
    "candidate": 'SELECT c.id, o.id, o.text, v.quote, v.start, v."end" FROM candidate_now c '
    "JOIN candidate_evidence v ON v.candidate = c.seq JOIN observation o ON o.seq = v.observation "
    "WHERE c.status <> 'rejected'",
    "record": "SELECT r.id || '@' || w.version, o.id, o.text, v.quote, v.start, v.\"end\" "
    "FROM record r JOIN record_version w ON w.record = r.seq JOIN record_evidence v "
    "ON v.version = w.seq JOIN observation o ON o.seq = v.observation",
    "entity": 'SELECT e.id, o.id, o.text, n.name, n.start, n."end" FROM entity_name n '
    "JOIN entity e ON e.seq = n.entity JOIN observation o ON o.seq = n.observation "
    "WHERE n.start IS NOT NULL",
}

BROKEN = {
    "candidate_without_evidence": (
        "candidate", "it cites nothing",
        "SELECT id FROM candidate c WHERE NOT EXISTS "
        "(SELECT 1 FROM candidate_evidence WHERE candidate = c.seq)",
    ),
    "record_without_evidence": (
        "record", "it cites nothing",
        "SELECT r.id || '@' || w.version FROM record_version w JOIN record r ON r.seq = w.record "
        "WHERE NOT EXISTS (SELECT 1 FROM record_evidence WHERE version = w.seq)",
    ),
    "record_incomplete": (
        "record", "it has no version or no state",
        "SELECT id FROM record r WHERE NOT EXISTS (SELECT 1 FROM record_now WHERE id = r.id)",
    ),
    "entity_without_evidence": (
        "entity", "nothing calls it anything",
        "SELECT id FROM entity e WHERE NOT EXISTS "
        "(SELECT 1 FROM entity_name WHERE entity = e.seq)",
    ),
    "episode_incomplete": (
        "episode", "it has no version",
        "SELECT id FROM episode e WHERE NOT EXISTS "
        "(SELECT 1 FROM episode_version WHERE episode = e.seq)",
    ),
    "episode_without_anchor": (
        "episode", "the observation that it is anchored at does not exist",
        "SELECT id FROM episode e WHERE NOT EXISTS "
        "(SELECT 1 FROM observation WHERE id = e.anchor)",
    ),
}  # fmt: skip
WEAK = {
    "stale_evidence": (
        "record", "everything that it cites was read again, or marked as misread",
        "recall leaves it out until it is proposed again or confirmed",
        "SELECT r.id || '@' || r.version FROM record_now r WHERE r.status = 'active' AND "
        "NOT EXISTS (SELECT 1 FROM record_evidence v "
        "JOIN observation_live o ON o.seq = v.observation WHERE v.version = r.version_seq)",
    ),
    "episode_empty": (
        "episode", "its members have moved to other episodes", "nothing needs to be done",
        "SELECT id FROM episode e WHERE NOT EXISTS "
        "(SELECT 1 FROM episode_member x JOIN membership m ON m.observation = x.observation "
        "WHERE x.episode = e.seq AND m.episode = e.seq)",
    ),
}  # fmt: skip
