"""Write small PDF files by hand, so that a test knows every number in them."""

import zlib

from PIL import Image


def build(
    *pages: tuple[str, str],
    images: dict[str, Image.Image] | None = None,
    info: str = "",
    font: str = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica",
) -> bytes:
    """Return a PDF of pages given as (page entries, content stream); ``/F1`` is Helvetica."""
    objects: list[bytes] = []

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    def stream(entries: str, data: bytes) -> bytes:
        return f"<< {entries} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"

    catalog, tree = add(b""), add(b"")
    letters = add(f"<< {font} >>".encode())
    pictures = ""
    for name, image in (images or {}).items():
        size = f"/Width {image.width} /Height {image.height}"
        entries = f"/Type /XObject /Subtype /Image {size} /ColorSpace /DeviceRGB"
        data = zlib.compress(image.convert("RGB").tobytes())
        number = add(stream(f"{entries} /BitsPerComponent 8 /Filter /FlateDecode", data))
        pictures += f"/{name} {number} 0 R "
    kids = []
    for entries, content in pages:
        body = add(stream("", content.encode("latin-1")))
        resources = f"<< /Font << /F1 {letters} 0 R >> /XObject << {pictures} >> >>"
        kids.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R {entries} /Resources {resources} "
                f"/Contents {body} 0 R >>".encode()
            )
        )
    listing = " ".join(f"{kid} 0 R" for kid in kids)
    objects[catalog - 1] = f"<< /Type /Catalog /Pages {tree} 0 R >>".encode()
    objects[tree - 1] = f"<< /Type /Pages /Kids [{listing}] /Count {len(kids)} >>".encode()
    about = add(f"<< {info} >>".encode())
    return _assembled(objects, catalog, about)


def text(words: str, x: float, y: float, size: float = 24) -> str:
    """Return the operators that set words at a point of user space."""
    return f"BT /F1 {size} Tf {x} {y} Td ({words}) Tj ET\n"


def picture(name: str, x: float, y: float, width: float, height: float) -> str:
    """Return the operators that draw an image in a rectangle of user space."""
    return f"q {width} 0 0 {height} {x} {y} cm /{name} Do Q\n"


def _assembled(objects: list[bytes], catalog: int, about: int) -> bytes:
    data = b"%PDF-1.7\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    tail = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} "
    tail += f"/Root {catalog} 0 R /Info {about} 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + tail.encode()
