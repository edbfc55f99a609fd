"""Sentences that tokenizers are compared on: prose, code, Chinese, Japanese and Korean, emoji, combining marks, odd spaces."""

FIXED = [
    "", " ", "   ", "\n", "\t \r\n", "a", " a", "a ", "The animal didn't cross the street because it was too tired",
    "Life is short, eat dessert first", "I'll, you've, WE'RE; it's 3.14159 2024-11-22!  two  spaces\n\nlines\tTab \r\n end ",
    "Ünïcödé naïve café — “quotes” … «French»", "中文 日本語テスト 한국어 🙂👩‍👩‍👧 e\u0301 \u1112\u1161\u11ab", "def f(x):\n    return x**2  # comment\n",
    "ﬁ ½ ² ™ Ⅷ ａｂｃ ㍿ ﷺ", "unaffable antidisestablishmentarianism " + "x" * 120, "İstanbul ΑΣ ΟΔΟΣ ß ẞ",
    "\u200bzero\u200dwidth\u00adsoft\ufeff\u180e|\u180e \u180e", "1234567 12 3 ٣٤٥ ½¾", "a" * 3000, " " * 500, "\n" * 300, "ab " * 700, "中" * 400,
]
PROSE = """the of and to in is was that it for as with his on be at by had not are but from or have an they which one you were all her she there would
their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first
Attention weights transformers tokenization unbelievable photosynthesis don't won't I'm you're it's they've O'Brien café naïve Zürich Straße""".split()
CODE = ["def ", "return ", "    ", "\t", "self.", "(x, y)", " = ", "[0]", "{}", "->", "==", "// ", "/* */", "0x1F", "1e-9", "\n", "\r\n", ";", "#include <", "std::vector<int>",
        "'", '"', "\\n", "__init__", "camelCase", "snake_case", "$", "@", "<html>", "&amp;"]
EAST = list("中文字漢日本語テストひらがなカタカナ한국어서울東京北京上海，。、！？「」『』・ー々〇") + ["ｱｲｳ", "ＡＢＣ", "１２３", "　", "\U00020000", "\U0002b820", "\U0002b920", "\U0002ceb0"]
EMOJI = ["🙂", "👩‍👩‍👧", "👍🏽", "🇩🇪", "❤️", "☃", "😀", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "\u200d", "\ufe0f"]
MARKS = ["e\u0301", "a\u0308\u0323", "\u0301", "n\u0303", "\u0928\u093f", "\u0915\u094d\u0937", "\u05e9\u05c1", "\u0e01\u0e33", "\u1112\u1161\u11ab", "q\u0307\u0323", "Å", "\u212b", "ﬀ", "①"]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\r", "\u00a0", "\u2003", "\u3000", "\u2028", "\u2029", "\u0085", "\u000b", "\u000c", "\u200b", "\u1680", "\u202f", "\u180e", "\u001c", "▁", "▁▁"]
MIXED = list("abcTheZßé 1²½'’s\n\r\t .,-_!?中あ한\u0301🙂\u200d\u200b\u00ad٣ⅧªſİĠĊ▁<>/[]|#") + ["'S", "'LL", "  ", " \n", "\r\n", " the", " and", "ing", "##", "<0x0A>"]


def some_sentence(chance, special, characters):
    pools = [PROSE, CODE, EAST, EMOJI, MARKS, SPACES, MIXED, special, characters]
    kind = chance.randrange(12)
    count = chance.randint(1, 30)
    if kind == 0:
        return " ".join(chance.choice(PROSE) for _ in range(count)) + chance.choice([".", "!", "?", "", " "])
    if kind < 9:
        main = pools[kind]
        return "".join(chance.choice(main if chance.random() < 0.7 else chance.choice(pools)) for _ in range(count))
    if kind == 9:
        return "".join(chance.choice(chance.choice(pools)) for _ in range(count))
    return "".join(chance.choice(MIXED) for _ in range(count))
