"""Words that ask or join and say nothing of what is sought; dropped from queries only."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    """
    a about after again all also am an and any are aren't as at be because been before being
    both but by can can't could couldn't did didn't do does doesn't doing don't down during
    each few for from had hadn't has hasn't have haven't having he he's her here hers him his
    how i i'd i'll i'm i've if in into is isn't it it's its just let's me more most my no nor
    not of off on once only or other our ours out over own please same shall she she's should
    shouldn't so some such tell than that that's the their theirs them then there there's
    these they they're this those through to too under until up us very was wasn't we we're
    we've were weren't what what's when when's where where's which while who who's whom whose
    why will with won't would wouldn't you you're you've your yours
    """
)

CHINESE = _words(
    """
    上 下 与 个 中 为 么 之 也 了 于 从 他 以 但 位 何 你 其 几 到 又 及 向 吗 吧 呀 呢
    和 哪 啊 嘛 在 她 它 对 将 就 并 很 您 我 或 把 时 是 有 的 种 而 被 请 谁 还 这 那
    都 里 一下 一个 为何 什么 他们 以及 但是 何地 何处 何时 你们 关于 其中 几个 可以 可否 告诉
    咱们 哪个 哪些 哪位 哪儿 哪年 哪里 因为 多少 她们 如何 如果 它们 并且 怎么 怎样 我们 所以 是否
    而且 能否 请问 这个 这些 这里 那个 那些 那里 为什么 什么样 会不会 怎么样 是不是 有没有 能不能
    什么时候
    """
)
LONGEST_CHINESE = max(map(len, CHINESE))
