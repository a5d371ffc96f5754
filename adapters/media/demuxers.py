"""Which ffmpeg demuxers may open a file, told from its first bytes alone.

A file without a suffix is probed by content, and playlists (HLS, concat, SDP) make ffmpeg open
*other* files. So nothing is opened unless its magic bytes name a self-contained format.
"""

HEAD_BYTES = 8192

_ELEMENTARY = "mp3,aac,ac3,eac3,dts,flac,tta,wv,ape,aiff,wav,mpc,mpc8,ogg,loas"
_PACKETS = 3
_PACKET_SYNC = 0x47
_MPEG_AUDIO = 0xFFE0_0000
_LAYERS, _LAYERS_2_AND_3 = 0x0006_0000, (0x0004_0000, 0x0002_0000)
_RATES, _SAMPLINGS = 0xF000, 0x0C00
_ADTS = 0xFFF0_0000
_LATM = 0x56E0_0000
_MOV_ATOMS = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot")
_PREFIXES: tuple[tuple[bytes, str], ...] = (
    (b"\x1aE\xdf\xa3", "matroska,webm"),
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"#!AMR", "amr"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (b"FLV\x01", "flv"),
    (b"caff", "caf"),
    (b"\x00\x00\x01\xba", "mpeg"),
    (b"\x00\x00\x01\xb3", "mpegvideo,mpeg"),
    (b"\x0b\x77", "ac3,eac3"),
    (b"\x7f\xfe\x80\x01", "dts"),
    (b".RMF", "rm"),
    (b"MAC ", "ape"),
    (b"wvPk", "wv"),
    (b"TTA1", "tta"),
    (b".snd", "au"),
    (b"DKIF", "ivf"),
    (b"DSD ", "dsf"),
    (b"FRM8", "iff"),
    (b"MPCK", "mpc8"),
    (b"MP+", "mpc"),
    (b"Creative Voice File", "voc"),
    (b"\x06\x0e\x2b\x34", "mxf"),
    (b"riff\x2e\x91\xcf\x11", "w64"),
)


def demuxer_for(head: bytes) -> str | None:
    """Return the demuxers (comma-separated ffmpeg names) for a file's first bytes, or null.

    Null means: not a self-contained audio or video file; don't hand it to ffmpeg.
    """
    if head[4:8] in _MOV_ATOMS:
        return "mov,mp4,m4a,3gp,3g2,mj2"
    for prefix, names in _PREFIXES:
        if head.startswith(prefix):
            return names
    if head.startswith(b"ID3"):
        # The tag may be longer than what was read, so any stream that wears one is possible.
        return _ELEMENTARY
    return _chunked(head) or _transport(head) or _framed(head)


def _chunked(head: bytes) -> str | None:
    kind, form = head[:4], head[8:12]
    if kind in (b"RIFF", b"RIFX", b"RF64", b"BW64"):
        return {b"AVI ": "avi", b"WAVE": "wav"}.get(form)
    if kind == b"FORM" and form in (b"AIFF", b"AIFC"):
        return "aiff"
    return None


def _transport(head: bytes) -> str | None:
    for packet, offset in ((188, 0), (192, 4), (204, 0)):
        syncs = head[offset : offset + packet * 5 : packet]
        if len(syncs) >= _PACKETS and set(syncs) == {_PACKET_SYNC}:
            return "mpegts"
    return None


def _framed(head: bytes) -> str | None:
    """Tell streams of bare frames by their header bits; some begin with zeros."""
    frame = int.from_bytes(head.lstrip(b"\x00")[:4].ljust(4, b"\x00"), "big")
    if frame & 0xFFF6_0000 == _ADTS:
        return "aac"
    if frame & 0xFFE0_0000 == _LATM:
        return "loas"
    if frame & _MPEG_AUDIO != _MPEG_AUDIO:
        return None
    layer, rate, sampling = frame & _LAYERS, frame & _RATES, frame & _SAMPLINGS
    # Layer I is what the mark of UTF-16 text looks like, and nobody's recording.
    whole = layer in _LAYERS_2_AND_3 and rate not in (0, _RATES) and sampling != _SAMPLINGS
    return "mp3" if whole else None
