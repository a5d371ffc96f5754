"""Where each public case is tested: every number has tests, and they are there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
CASES = {
    1: ("contract/test_search_index.py", "unit/pipeline/recall/test_query.py"),
    2: ("contract/test_search_index.py", "golden/test_pack.py"),
    3: ("contract/test_search_index.py", "unit/pipeline/recall/test_search.py"),
    4: ("faults/test_canary.py",),
    5: ("faults/test_forget_list.py", "cli/test_forget.py"),
    6: ("faults/test_canary.py", "cli/test_forget.py"),
    7: ("faults/test_canary.py",),
    8: ("faults/test_backup_faults.py",),
    9: ("faults/test_backup_faults.py", "unit/store/backup/test_restore.py"),
    10: ("cases/test_c10_c18_c19_citations.py",),
    11: ("cli/test_habits.py",),
    12: ("cases/test_c12_bombs.py",),
    13: ("cases/test_c13_orientation.py",),
    14: ("cases/test_c14_c15_c16_times.py",),
    15: ("cases/test_c14_c15_c16_times.py",),
    16: ("cases/test_c14_c15_c16_times.py",),
    17: ("cases/test_c17_invented_speech.py",),
    18: ("cases/test_c10_c18_c19_citations.py",),
    19: ("cases/test_c10_c18_c19_citations.py",),
    20: ("cases/test_c20_c21_c22_c23_names_and_children.py",),
    21: ("cases/test_c20_c21_c22_c23_names_and_children.py",),
    22: ("cases/test_c20_c21_c22_c23_names_and_children.py",),
    23: ("cases/test_c20_c21_c22_c23_names_and_children.py",),
    24: ("cases/test_c24_c25_claims.py",),
    25: ("cases/test_c24_c25_claims.py",),
    26: ("cases/test_c26_c27_c38_films.py",),
    27: ("cases/test_c26_c27_c38_films.py",),
    28: ("cases/test_c28_near_duplicates.py", "cli/test_list_duplicates.py"),
    29: ("cases/test_c29_retry.py",),
    30: ("cases/test_c30_watch.py",),
    31: ("cases/test_c31_c32_c42_folders.py",),
    32: ("cases/test_c31_c32_c42_folders.py",),
    33: ("cases/test_c33_sidecars.py",),
    34: ("cases/test_c34_c35_c36_text.py",),
    35: ("cases/test_c34_c35_c36_text.py", "cli/test_habits.py"),
    36: ("cases/test_c34_c35_c36_text.py",),
    37: ("cases/test_c13_orientation.py",),
    38: ("cases/test_c26_c27_c38_films.py",),
    39: ("faults/test_killed_ingest.py", "unit/store/test_locks.py"),
    40: ("unit/store/test_migrations.py", "cli/test_backup.py"),
    41: ("unit/store/backup/test_verify.py", "faults/test_limits.py"),
    42: ("cases/test_c31_c32_c42_folders.py",),
}


@pytest.mark.parametrize("number", range(1, 43))
def test_every_case_has_tests(number: int) -> None:
    for name in CASES[number]:
        assert re.search(r"^def test_", (TESTS / name).read_text("utf-8"), re.MULTILINE), name
