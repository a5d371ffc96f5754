"""When a watched file counts as whole; every time is given, none is waited for."""

from muniment.pipeline.watching import Settling
from muniment.store.assets import Stat

A, B = b"/in/a.txt", b"/in/b.txt"


def stat(size: int = 1, mtime: int = 1, inode: int = 1) -> Stat:
    return Stat(size, mtime, mtime, inode)


def test_a_file_is_ready_once_it_has_stood_still() -> None:
    settling = Settling(2.0)

    assert settling.ready([(A, stat())], 0.0) == []
    assert settling.ready([(A, stat())], 1.9) == []
    assert settling.ready([(A, stat())], 2.0) == [A]


def test_each_change_starts_the_wait_again() -> None:
    settling = Settling(2.0)
    for at in (0.0, 1.0, 2.0, 3.0):
        assert settling.ready([(A, stat(size=int(at), mtime=int(at)))], at) == []

    assert settling.ready([(A, stat(size=3, mtime=3))], 4.9) == []
    assert settling.ready([(A, stat(size=3, mtime=3))], 5.0) == [A]


def test_what_was_taken_is_not_ready_again_until_it_changes() -> None:
    settling = Settling(0.0)
    settling.ready([(A, stat())], 0.0)
    settling.took([A])

    assert settling.ready([(A, stat())], 9.0) == []
    assert settling.ready([(A, stat(size=2, mtime=9))], 10.0) == [A]


def test_a_new_name_waits_for_itself_and_the_old_one_is_forgotten() -> None:
    settling = Settling(2.0)
    settling.ready([(A, stat())], 0.0)
    settling.ready([(A, stat())], 2.0)
    settling.took([A])

    assert settling.ready([(B, stat())], 3.0) == []
    assert settling.ready([(B, stat())], 5.0) == [B]
    assert settling.ready([(A, stat()), (B, stat())], 6.0) == [B]


def test_a_file_that_moved_while_it_was_read_is_looked_at_again() -> None:
    settling = Settling(0.0)
    settling.ready([(A, stat())], 0.0)
    settling.took([A])
    settling.forget([A])

    assert settling.ready([(A, stat())], 1.0) == [A]
