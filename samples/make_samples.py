"""Make the sample files again: a week of one household, told by six kinds of file.

Needs ffmpeg, espeak-ng, and the DejaVu and WenQuanYi Micro Hei fonts (``make samples`` brings
them). The words, pictures and timings are fixed; bytes may differ between encoder versions, so
the outputs are committed and this is run only when the story changes.
"""

import io
import shutil
import subprocess  # the encoders are programs
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONTS = Path("/usr/share/fonts/truetype")
SANS = FONTS / "dejavu" / "DejaVuSans.ttf"
SANS_BOLD = FONTS / "dejavu" / "DejaVuSans-Bold.ttf"
SERIF = FONTS / "dejavu" / "DejaVuSerif.ttf"
HAN = FONTS / "wqy" / "wqy-microhei.ttc"

NOTE = """\
# Hangzhou trip

Written on 2 April 2026 at the kitchen table.

Grandma turns seventy on 18 April 2026. Dinner is at six in the evening at the Lakeside
Restaurant, and the table is booked under the name Lin.

We stay two nights at the Willow Inn. The confirmation code is WL-48213, and breakfast is
included.

Remember that the spare key is with Mrs. Novak at number 12.

## Still open

- Who waters the tomatoes while we are away?
- Ask the restaurant for a quiet corner, because Grandma's hearing aid dislikes noise.
"""

CHAT = """\
2026-04-03 19:02 林梅: 高铁票买好了，G7315次，4月17日早上8点25分从上海虹桥站出发。
2026-04-03 19:04 丹尼尔: 太好了，酒店我已经订了两晚。
2026-04-03 19:06 林梅: 请记住：乐乐对花生过敏，点菜的时候一定要告诉餐厅。
2026-04-03 19:07 丹尼尔: 好，我会带上过敏药。
2026-04-03 19:11 外婆: 我喜欢喝龙井茶，晚上不喝咖啡。
2026-04-03 19:12 林梅: 我喜欢靠窗的座位。我对芒果过敏，别订芒果布丁。
2026-04-03 19:13 丹尼尔: 可以。
2026-04-04 08:30 外婆: 生日那天王医生也会来吃饭。
2026-04-04 08:41 林梅: 好的，那一共七个人，我去改预订。
"""

WHITEBOARD = (
    (SANS_BOLD, 54, (70, 50), "HANGZHOU TRIP"),
    (SANS, 36, (70, 150), "Pack the blue suitcase"),
    (SANS, 36, (70, 215), "Cake order number 2047"),
    (SANS, 36, (70, 280), "Gift: a jade bracelet"),
    (HAN, 46, (70, 390), "蛋糕：低糖抹茶口味"),
    (HAN, 46, (70, 470), "早上七点半在地铁口集合"),
    (HAN, 46, (70, 550), "相机和充电器别忘了"),
)

MEMO = (
    "This is a voice memo. "
    "The dentist appointment for Leo is on Tuesday at half past three. "
    "The clinic of Doctor Harper is on Maple Street. "
    "Please bring the insurance card."
)

STANDUP = (
    "Good morning. This is the kitchen project. "
    "We decided to paint the walls yellow. "
    "The painter will come on Thursday. "
    "We will keep the wooden table."
)
SLIDE_SECONDS = 6
SLIDES = (
    ("#fdf6e3", "Kitchen project", ("Stand-up, 6 April 2026", "Decision: yellow walls")),
    ("#1f3a4d", "Next steps", ("Painter: Rosa Alvarez", "Start: Thursday 9 April")),
)

LETTER = """\
Northgate Plumbing
14 Canal Road

24 March 2026

Invoice number INV-20417

Dear Ms. Lin,

Thank you for choosing us to replace the kitchen tap.
The amount due is 312.50 dollars. Please pay it
before 24 April 2026.

The new tap has a warranty of five years. Keep this
letter as proof of purchase.

Yours sincerely,
Victor Osei
"""


def font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    """Load a font at a size in pixels."""
    return ImageFont.truetype(str(path), size)


def run(*arguments: str) -> None:
    """Run a program with no terminal and let its failure stop the script."""
    program = shutil.which(arguments[0])
    if program is None:
        sys.exit(f"{arguments[0]} is missing; run `make samples`")
    subprocess.run([program, *arguments[1:]], check=True, stdin=subprocess.DEVNULL)  # noqa: S603  # fixed words


def ffmpeg(*arguments: str) -> None:
    """Run ffmpeg so that the same encoder writes the same bytes."""
    run("ffmpeg", "-v", "error", "-y", *arguments)


def speak(words: str, target: Path) -> None:
    """Speak English into a WAV file."""
    run("espeak-ng", "-v", "en-us", "-s", "140", "-p", "45", "-w", str(target), words)


def whiteboard() -> Image.Image:
    """Draw a picture of English and Chinese lines."""
    board = Image.new("RGB", (1000, 660), "#fbfbf8")
    draw = ImageDraw.Draw(board)
    draw.rectangle((12, 12, 987, 647), outline="#8a8f94", width=8)
    for face, size, at, text in WHITEBOARD:
        draw.text(at, text, font=font(face, size), fill="#1b2f6b")
    return board.convert("P", palette=Image.Palette.ADAPTIVE, colors=16)


def slide(background: str, title: str, lines: tuple[str, ...]) -> Image.Image:
    """Draw one slide of the video."""
    picture = Image.new("RGB", (640, 360), background)
    draw = ImageDraw.Draw(picture)
    ink = "#111111" if background > "#8" else "#ffffff"
    draw.text((50, 50), title, font=font(SANS_BOLD, 46), fill=ink)
    for row, line in enumerate(lines):
        draw.text((50, 160 + 70 * row), line, font=font(SANS, 34), fill=ink)
    return picture


def scan() -> bytes:
    """Return the letter as a grey JPEG, with the grain of a scanner."""
    page = Image.new("L", (1240, 1754), 250)
    draw = ImageDraw.Draw(page)
    for row, line in enumerate(LETTER.splitlines()):
        draw.text((130, 150 + 62 * row), line, font=font(SERIF, 34), fill=30)
    grain = np.random.default_rng(7).normal(0.0, 3.0, (1754, 1240))
    grey = np.clip(np.asarray(page, dtype=np.float64) + grain, 0, 255).astype(np.uint8)
    jpeg = io.BytesIO()
    Image.fromarray(grey).save(jpeg, "JPEG", quality=45, dpi=(150, 150))
    return jpeg.getvalue()


def pdf_of(jpeg: bytes, width: int, height: int) -> bytes:
    """Wrap one grey JPEG at 150 dpi in a PDF that has no text layer."""
    box = (width * 72 / 150, height * 72 / 150)
    content = b"q %.2f 0 0 %.2f 0 0 cm /Scan Do Q" % box
    image = (
        b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray"
        b" /BitsPerComponent 8 /Filter /DCTDecode /Length %d >>\nstream\n"
        % (width, height, len(jpeg))
    )
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %.2f %.2f] /Contents 4 0 R"
        b" /Resources << /XObject << /Scan 5 0 R >> >> >>" % box,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        image + jpeg + b"\nendstream",
    )
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def memo(target: Path, work: Path) -> None:
    """Record the spoken memo as Ogg Vorbis."""
    spoken = work / "memo.wav"
    speak(MEMO, spoken)
    ffmpeg(
        *("-i", str(spoken), "-ac", "1", "-ar", "22050", "-c:a", "libvorbis", "-q:a", "3"),
        *("-metadata", "title=Voice memo", "-fflags", "+bitexact", "-flags:a", "+bitexact"),
        str(target),
    )


def standup(target: Path, work: Path) -> None:
    """Film the two slides, the second from ``SLIDE_SECONDS`` on, with speech over them."""
    spoken = work / "standup.wav"
    speak(STANDUP, spoken)
    pictures: list[str] = []
    for number, (background, title, lines) in enumerate(SLIDES):
        picture = work / f"slide{number}.png"
        slide(background, title, lines).save(picture)
        pictures += ["-loop", "1", "-framerate", "10", "-t", str(SLIDE_SECONDS), "-i", str(picture)]
    ffmpeg(
        *pictures,
        *("-i", str(spoken), "-filter_complex"),
        "[0:v][1:v]concat=n=2:v=1,format=yuv420p[v];[2:a]adelay=500,apad[a]",
        *("-map", "[v]", "-map", "[a]", "-t", str(2 * SLIDE_SECONDS)),
        *("-c:v", "libx264", "-crf", "28", "-threads", "1", "-c:a", "aac", "-b:a", "64k"),
        *("-metadata", "creation_time=2026-04-06T09:00:00Z"),
        *("-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"),
        str(target),
    )


def main(folder: Path) -> None:
    """Write every sample into ``folder``."""
    (folder / "note.md").write_text(NOTE, encoding="utf-8")
    (folder / "chat-zh.txt").write_text(CHAT, encoding="utf-8")
    whiteboard().save(folder / "whiteboard.png", optimize=True)
    (folder / "letter-scan.pdf").write_bytes(pdf_of(scan(), 1240, 1754))
    with tempfile.TemporaryDirectory() as work:
        memo(folder / "memo.ogg", Path(work))
        standup(folder / "standup.mp4", Path(work))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
