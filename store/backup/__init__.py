"""A backup repository: snapshots of whole stores over objects that they share.

::

    DEST/
      repository.json          what this is: format, version, id, how it is encrypted
      lock                     held alone by create and prune, shared by everything else
      objects/ab/<name>        bytes, each object under the SHA-256 of its content
      snapshots/<id>.json      one manifest a snapshot; written last, never overwritten
      tmp/                     files that are not whole yet; nothing in it counts

A manifest names every file of the store with its kind, size and SHA-256, and the objects that
make it up: an asset is one object, a database a row of parts of 256 KiB, so that what did not
change is shared with the snapshot before. Databases carry their schema and the number of rows
of each table. ``fingerprint`` is a digest over all paths, sizes and digests; ``missing`` names
what the store itself had lost; ``forgotten`` holds the keyed digests of what was erased, so that
restoring an older snapshot does not bring it back. The manifest ends in its own digest.

In an encrypted repository an object's name is a keyed digest, and objects and manifests are
AES-256-GCM in chunks of 64 KiB (:mod:`~muniment.store.backup.cipher`). Ids, times, the number
of objects and their sizes stay readable.
"""
