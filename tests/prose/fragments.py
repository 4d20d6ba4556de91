"""Finds fragments: sentences that begin with a word in place of a missing noun, or that have no main verb.

A noun phrase that defines something ("Number of columns.") and a verb phrase ("Returns the map.") are allowed. The
search knows words, not grammar: each word that opens a clause ("which", "where", …) takes the next verb, and a sentence
has a main verb if one verb is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# These words stand for a noun. A sentence that begins with one of them is a fragment even with a verb.
HEADLESS = _words("what who")
# "That" and "those" stand for a noun if one of these words follows.
AFTER_POINTER = _words("of that which who whose with without in from where alone for behind not")
# These words open a clause.
OPENERS = _words(
    "that which who whose whom what whatever whoever whichever where wherever when whenever while if whether because unless "
    "although though how why once lest"
)
# These words open a clause or a phrase; a phrase ends at the next comma.
WEAK_OPENERS = _words("as than before after until till since")
# The clause of these may have no verb: "Where possible, …", "Unless given, …".
VERBLESS = _words("where when if while once unless")
# A sentence that begins with one of these is a fragment in any kind of text if it has no main verb.
CLAUSE_WORDS = _words("which whose whether where wherever how why whatever whoever whichever")
PREPOSITIONS = _words(
    "of in on at by for from with without within between behind beside besides beyond beneath under over above below across "
    "against along among around despite during inside into near outside per through throughout toward towards upon via as than "
    "before after until since like except about not"
)
# Pronouns that are fragments by themselves: "Nothing but …", "The same of …", "One that …".
STANDING_ALONE = re.compile(
    r"(?:nothing|nobody|neither|everything|everybody|anything|none|no one)\b(?! :)"
    r"|(?:the )?(?:same|rest|others?|latter|former|one|ones|both|all|each|any|either|another|these|this|it|they)"
    r" (?:as|for|in|with|on|at|by|under|alone|that|which|who|there|here|where|when|but|and|[,;:])(?: |$)"
    r"|the same (?:of|again)\b"
)
LEADING = _words("and or but also only mostly usually partly even just else otherwise then thus again so")
AUXILIARIES = _words(
    "is are was were am has had does did can cannot could may might must shall should will would can't isn't aren't wasn't "
    "weren't doesn't don't didn't won't hasn't haven't couldn't it's that's there's let's needn't mustn't wouldn't have do"
)
# Third persons, and pasts that are no participles.
VERBS = _words(
    "accepts adds agrees allocates allows appears applies asks assumes avoids becomes begins behaves belongs bounds brings bridges "
    "carries causes chooses combines comes compares computes connects consists contains continues contradicts converts corrects "
    "crashes creates decides declares defines delivers demands depends describes destroys detects differs divides does draws drops "
    "enqueues ensures enters exceeds executes exists exits expects explains fails falls fills finds finishes fits follows gains "
    "gathers gets gives goes grows guarantees handles hangs happens helps holds identifies ignores implements improves includes "
    "increases installs interrupts joins jumps keeps knows lacks lags lasts lays leaves lets lies listens lives looks loses lowers "
    "makes means meets needs nests occurs offers opens outlives overlaps owns performs prefers prevents produces promises proves "
    "provides pulls puts raises reaches receives rectifies reduces refers refuses rejects remains removes renames repeats replaces "
    "replicates represents requires restores retains returns reuses says searches seems sees selects sends serves shows "
    "shrinks slows spreads stands starts stays stops succeeds suffices supports survives takes tells throws treats tries "
    "understands uses vouches waits walks wants warns wins works writes yields "
    "came took went gave saw knew fell became began grew got ran"
)
# Third persons that are plural nouns, too.
NOUNS_OR_VERBS = _words(
    "addresses answers bounds breaks builds calls changes checks copies costs counts covers ends features filters fixes guides hands "
    "issues leads likes limits loads maps marks matches measures moves names orders outputs pads passes plans plays places points prints "
    "queries reads records reports results rests rounds runs samples scales scores sets shares shifts signals sorts states steers steps stores "
    "streams sums tests ties touches turns values views votes weighs"
)
BASE_VERBS = _words(
    "give take come go make hold lie stay stand follow begin become contain need use show tell say know find see read write cost "
    "run match depend differ share agree add fit keep get leave mean end start stop work count move lose win meet wait enter fail "
    "remain appear belong exist happen reach require return support allow vary"
)
IMPERATIVES = BASE_VERBS | _words(
    "set pass call install choose build open copy let try remove replace select put check compare note throw rewrite name pick "
    "prefer turn avoid ask look test report print send export import create switch divide press click rebuild rectify repeat link"
)
SUBJECTS = _words("it who nothing everything everybody nobody somebody")
RELATIVES = _words("that which who")
AGENTS = _words("caller code command compiler driver engine function host kernel library matcher process program server thread user")
PLURAL_SUBJECTS = _words("they we you i these those both all others two three four some most many few")
NOT_AFTER_SUBJECT = _words(
    "is its this as has was us alone of in on at by for from with without to and or not that there here where who which are may can "
    "must will be come two three four too only also all both each alone never always still then themselves"
)
GOVERNORS = _words("to not can may must will would should could cannot can't might shall does do don't doesn't didn't never")
DETERMINERS = _words(
    "a an the its their no each every some any all of and or his our your more fewer other both such in by for with from to on at"
)
AFTER_VERB = _words(
    "a an the its their all no one each every this that these those both more less nothing what how where whether only it them "
    "itself themselves up down out not too again there here into away without some any such from at"
)
ARTICLES = _words("the a an its their no all each every")
TOKEN = re.compile(r"[A-Za-z_][\w'’.\-]*\w|[A-Za-z_]|\d[\w.,×%\-]*|[,;:—–]|[^\s\w]")
LABEL = r"[@\\](?:param|returns?|throws?|brief)\b|(?:Args|Returns|Raises|Yields|Parameters)\b:?$|:\w+[^:]*:"


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a unit without its formulas and usage lines, which are indented."""
    lines = text.split("\n")
    base = min((_indent(line) for line in lines if line.strip()), default=0)
    paragraph: list[str] = []
    after_formula = False
    for line in [*lines, ""]:
        body = line.strip()
        starts = re.match(rf"[-*•+] |{LABEL}", body)
        indented = _indent(line) >= base + 2 and not starts and not (paragraph and _is_prose(body))
        formula = body and (indented or re.match(r">>>|\.\.\. ", body))
        if paragraph and (not body or starts or formula):
            found = list(_split(" ".join(paragraph)))
            # "with d the disparity" and "where d is …" continue the formula above them.
            yield from found[1:] if after_formula and found and found[0][0].islower() else found
            paragraph, after_formula = [], False
        after_formula = after_formula or bool(formula)
        if body and not formula:
            paragraph.append(re.sub(r"^(?:[-*•+] |[@\\]param\s+\S+\s*|[@\\]\w+\s*|:\w+[^:]*:)", "", body))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_prose(line: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", line)) >= 4


def _split(paragraph: str) -> Iterator[str]:
    shielded = re.sub(r"\b(e\.g|i\.e|et al|cf|vs|etc|fig|eq|sec|resp|approx)\.", r"\1․", paragraph, flags=re.IGNORECASE)
    for sentence in re.split(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`]?[A-Z0-9¼½¾_(`\"])", shielded):
        if re.search(r"[A-Za-z]{2}", sentence):
            yield sentence.replace("․", ".")


def _tokens(sentence: str) -> list[str]:
    """Returns words and punctuation in lower case; what is quoted is a `Code`, and brackets are left out unless they come first."""
    text = re.sub(r"`[^`]*`|\"[^\"]*\"|“[^”]*”", " Code ", sentence)
    text = re.sub(r"^\([^()]*\)", " Code ", text)
    for _ in range(3):
        text = re.sub(r"\([^()]*\)", " ", text)
    return [token if token == "Code" else token.lower().replace("’", "'") for token in TOKEN.findall(text)]


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "'s"))


def _is_finite(tokens: list[str], i: int) -> bool:
    """Returns whether token i is a verb that has a subject: no infinitive, no participle and no noun."""
    word, before, after = tokens[i], tokens[i - 1] if i else "", tokens[i + 1] if i + 1 < len(tokens) else ""
    if before in GOVERNORS:
        return word in AUXILIARIES - {"have", "do"} and before not in ("to", "not")
    if word in AUXILIARIES:
        return True
    relative = before in RELATIVES and i > 1 and tokens[i - 2] not in PREPOSITIONS
    if (before in SUBJECTS or relative) and _is_plural(word) and word not in NOT_AFTER_SUBJECT:
        return True
    if before in ("they", "we", "you", "i") and word.isalpha() and word not in NOT_AFTER_SUBJECT:
        return True
    if word in VERBS:
        return before not in ("a", "an", "the", "no", "its", "their", "of")
    if word in NOUNS_OR_VERBS and (before in AGENTS or (after in AFTER_VERB and before not in DETERMINERS)):
        return True
    if word in BASE_VERBS and (before in PLURAL_SUBJECTS | RELATIVES or _is_plural(before)):
        return True
    if word in IMPERATIVES and before in (",", ":", ";"):
        return True
    # The subject of the main clause may stand behind the last comma, so that a word which may be a noun is likely a verb.
    start = i - tokens[i::-1].index(",") + 1 if "," in tokens[:i] else i
    if start >= i or tokens[start] in PREPOSITIONS | OPENERS | {"and", "or", "but", "so"} or before in DETERMINERS or word == "times":
        return False
    return (_is_plural(word) and after in ARTICLES) or (word in NOUNS_OR_VERBS | BASE_VERBS and after not in ("of", ",", "and", "or", ":"))


def _opens(tokens: list[str], i: int) -> bool:
    """Returns whether token i opens a clause; "that" is a pronoun or a determiner behind most prepositions ("of that size")."""
    if tokens[i] != "that" or i == 0 or tokens[i - 1] not in PREPOSITIONS - {"except", "not", "than"}:
        return tokens[i] in OPENERS
    return i + 1 < len(tokens) and tokens[i + 1] in SUBJECTS | PLURAL_SUBJECTS | BASE_VERBS | {"the", "a", "an", "its", "their"}


def has_main_verb(tokens: list[str]) -> bool:
    """Returns whether a verb is left when each word that opens a clause has taken one."""
    weak: list[bool] = []  # for each open clause, whether it ends at a comma
    in_clause = False  # whether the last verb belongs to a clause, as does "and VERB" behind it
    for i, word in enumerate(tokens):
        before = tokens[i - 1] if i else ""
        if _opens(tokens, i):
            if weak and weak[-1] and before in ("as", "than"):
                weak.pop()
            weak.append(False)
        elif word in WEAK_OPENERS:
            weak.append(True)
        elif word in (";", "—"):
            return False
        elif word in (",", ":", "–"):
            while weak and weak[-1]:
                weak.pop()
            if i <= 3 and weak and tokens[0] in VERBLESS:
                weak.pop()
            in_clause = in_clause and word == ","
        elif _is_finite(tokens, i):
            if weak:
                while len(weak) > 1 and weak[-1]:
                    weak.pop()
                weak.pop()
                in_clause = True
            elif not (in_clause and before in ("and", "or", "but", "then", "so", "never")):
                return True
    return False


def _is_pointing(tokens: list[str]) -> bool:
    """Returns whether "that" begins a sentence as in "That is slow" and "That pixel is valid", not as in "That images use"."""
    if tokens[1] in AUXILIARIES | VERBS | NOUNS_OR_VERBS:
        return tokens[1] not in ("are", "were", "have", "do")
    verb = next((i for i in range(1, len(tokens)) if _is_finite(tokens, i)), None)
    if verb is None or tokens[1] in ("a", "an", "the", "its", "their", "it", "they", "we", "you", "all", "no"):
        return False
    return not any(_is_plural(word) for word in tokens[1:verb]) and has_main_verb(tokens[1:])


def fragment(sentence: str, kind: str = "comment", trailing: bool = False) -> str | None:
    """Returns why `sentence` is a fragment, or None.

    Comments behind code, cells of tables, headings and help may be phrases ("for std::min", "From OpenCV").
    """
    heading = sentence.startswith("#")
    sentence = sentence.strip("# ")
    if sentence.rstrip("\"')` ").endswith("?"):
        return None
    tokens = _tokens(sentence)
    while tokens and (tokens[0] in LEADING or not re.match(r"\w", tokens[0])) and tokens[:2] != ["so", "that"]:
        tokens = tokens[1:]
    if len(tokens) < 2:
        return None
    first, second = tokens[0], tokens[1]
    cell = trailing and kind == "markdown"
    verb = has_main_verb(tokens)
    missing = f'"{first.capitalize()}" is in place of a noun'
    clause = f'"{first.capitalize()}" begins a clause, and there is no main clause'
    if first in HEADLESS:
        return missing
    if first == "of" and not cell:
        head = tokens[: tokens.index(":")] if ":" in tokens else tokens
        return None if "," in head and has_main_verb(head) else missing
    if first in ("that", "those") and second in AFTER_POINTER:
        return missing
    if first in ("is", "are", "was", "were"):
        return f'"{first.capitalize()}" has no subject'
    if first == "that":
        return None if verb or _is_pointing(tokens) else clause
    if verb or second == "example" or (first == "how" and second == "to"):
        return None
    if first in CLAUSE_WORDS and not (heading and first in ("how", "why", "where")):
        return clause
    if cell or heading:
        return None
    if first == "as" and (second in ("in", "for", "with", "on", "by", "it", "they") or not trailing):
        return clause
    if STANDING_ALONE.match(" ".join(tokens)):
        return f"{missing}, and there is no verb"
    if trailing or kind == "help" or (kind == "markdown" and sentence.endswith(":")):
        return None
    if first in OPENERS or tokens[:2] == ["so", "that"]:
        return clause
    if first in PREPOSITIONS:
        return f'"{first.capitalize()}" begins a phrase, and there is no subject and no verb'
    return None
