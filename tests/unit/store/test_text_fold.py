from muniment.store.text.fold import fold


def test_width_case_and_accents_are_folded() -> None:
    assert fold("ＡＢＣ Éà Ñandú ŁÓDŹ Straße") == "abc ea nandu lodz strasse"
    assert fold("Άλφα ΣΟΦΟΣ") == "αλφα σοφοσ"
    assert fold("İstanbul O’Brien ﬁ ①") == "istanbul o'brien fi 1"


def test_letters_of_their_own_keep_their_marks() -> None:
    assert fold("Йод ёлка Їжак") == "йод елка їжак"
    assert fold("がハ\uff9e हिन्दी") == "がバ हिन्दी"


def test_points_that_writing_leaves_out_are_dropped() -> None:
    assert fold("שָׁלוֹם") == "שלום"
    assert fold("مُحَمَّد") == "محمد"


def test_traditional_characters_become_simplified_one_by_one() -> None:
    text = "臺灣國語圖書館乾淨"
    assert fold(text) == "台湾国语图书馆干净"
    assert len(fold(text)) == len(text)


def test_what_can_t_be_stored_gets_a_stand_in() -> None:
    assert fold("a\0b\x7f\x1b") == "a␀b␡␛"
    assert fold("\ud800é") == "\ufffde"
    assert fold("é\x85\x9f") == "e \ufffd"


def test_invisible_characters_are_dropped_and_breaks_kept() -> None:
    assert fold("so\u00adft 👩\u200d💻\ufe0f") == "soft 👩💻"
    assert fold("ก\u200bข") == "ก ข"
