"""Sets of English words by what they do in a sentence, as far as a completion word needs it."""

from __future__ import annotations

FINITE = frozenset({"is", "are", "was", "were", "am", "has", "have", "had"})
SUBJECTS = frozenset({
    "i", "we", "it", "they", "you", "he", "she", "this", "that", "everything", "all", "both",
})  # fmt: skip
JOINERS = frozenset({"and", "then", "yet", "or"})
"""Begin a new statement if what follows has a subject or a verb of its own."""
PARTERS = frozenset({"but", "so", "because", "since", "although", "though", "however", "while"})
"""Always begin one."""

ADVERBS = frozenset({
    "now", "all", "already", "also", "finally", "fully", "just", "really", "truly", "completely",
    "entirely", "successfully", "both", "basically", "essentially", "technically",
    "officially", "therefore", "thus", "100%", "again", "then", "soon", "still", "each",
})  # fmt: skip
FILLERS = frozenset({
    "however", "though", "yet", "quite", "of", "course", "by", "any", "means", "at", "all", "sadly",
    "unfortunately", "alas", "then", "therefore", "so", "far",
})  # fmt: skip

NOT = frozenset({
    "not", "never", "hardly", "barely", "scarcely", "cannot", "neither", "nor", "nowhere",
    "without", "isnt", "arent", "wasnt", "werent", "hasnt", "havent", "dont", "doesnt", "didnt",
})  # fmt: skip
NOT_PAIRS = frozenset({
    ("far", "from"), ("instead", "of"), ("rather", "than"), ("no", "longer"), ("anything", "but"),
    ("i", "doubt"),
})  # fmt: skip
ONLY_SEEMS_NOT = frozenset({"only", "just", "merely", "doubt"})
"""Behind a "not" or "no": what follows is affirmed."""
NONE = frozenset({"no", "none", "nothing", "nobody", "zero", "0", "n/a", "nil"})
"""Negate what follows closely."""

IF = frozenset({
    "if", "unless", "until", "till", "whenever", "provided", "assuming", "suppose", "supposing",
})  # fmt: skip
"""Condition the whole sentence behind them."""
WHEN = frozenset({"when", "once", "after", "before", "while", "upon", "having"})
"""Condition their own clause."""

MODALS = frozenset({
    "will", "would", "shall", "should", "can", "could", "may", "might", "must", "cannot", "gonna",
    "won't", "get", "gets", "getting", "be", "being", "become", "becomes", "going",
})  # fmt: skip
"""Put off the verb that they govern."""
HOPES = frozenset({
    "ensure", "ensures", "ensuring", "verifying", "want", "wants", "wish", "hope", "hopes",
    "hoping", "expect", "expects", "expected", "aim", "pretend", "supposed", "mark",
    "marking", "wait", "waiting", "need", "needs", "try", "trying", "let",
})  # fmt: skip
"""Put off whatever follows in their clause."""
SEEMS = frozenset({"seem", "seems", "appear", "appears", "looks", "considered", "known"})
"""Before "to be": still says it."""
VERBS_BEHIND_TO = frozenset({"be", "get", "have", "see", "make", "call", "fully", "finally"})

PARTLY = frozenset({
    "almost", "nearly", "half", "halfway", "partly", "partially", "mostly", "largely", "most",
    "some", "few", "several", "virtually", "practically", "part", "parts", "roughly", "close",
    "many", "semi",
})  # fmt: skip
EXCEPT = frozenset({"except", "excepting", "apart", "aside", "minus", "barring", "halfway"})

REPORTS = frozenset({
    "said", "says", "reported", "reports", "claims", "claimed", "told", "announced", "announces",
    "mentioned", "states", "stated", "wrote", "thinks", "believes",
})  # fmt: skip
MACHINES = frozenset({
    "build", "compilation", "install", "installation", "download", "downloads", "upload",
    "uploads", "command", "subagent", "subagents", "agent", "agents", "fetch", "clone",
    "npm", "pip",
})  # fmt: skip
"""What finishes without the work being done."""

ASKED = frozenset({"what", "how", "whether", "why", "where", "who"})
ARTICLES = frozenset({"a", "an", "the", "my", "your", "its", "our", "their", "any", "every"})
MANNERS = frozenset({
    "by", "via", "using", "through", "because", "automatically", "manually", "lazily", "so",
})  # fmt: skip
"""Behind "done": how something is done, not that it is."""
LISTS = frozenset({"summary", "list", "overview", "recap", "record", "log", "definition"})
BEHIND_COMPLETE = frozenset({
    "and", "with", "but", "so", "as", "now", "for", "or", "yet", "then", "because", "since", "at",
    "in", "on", "per", "according", "including", "except", "apart", "aside", "already", "when",
    "if", "once", "until", "unless", "after", "before", "while", "too", "again", "today", "from",
})  # fmt: skip
"""May stand behind the adjective "complete"; another word makes it a verb or an attribute."""
NO_PLURALS = frozenset({"this", "its", "is", "was", "has", "as", "ours", "yours", "does"})
PREPOSITIONS = frozenset({"for", "of", "with", "from", "about", "between", "per", "into"})

FOREIGN = frozenset({
    "das", "ist", "nicht", "und", "ich", "wir", "noch", "ein", "eine", "mit", "sind", "wurde",
    "wird", "alles", "auf", "der", "dem", "sie", "je", "nous", "vous", "avec", "les", "des", "une",
    "dans", "c'est", "n'est", "pas", "sont", "tout", "el", "los", "las", "una", "est\u00e1",
    "esta", "est\u00e1n", "que", "para", "por", "pero", "hecho", "sono", "della", "tutto", "fatto",
    "het", "een", "niet", "zijn", "nog", "n\u00e3o", "nao", "uma", "isto", "isso", "feito", "jest",
    "nie", "\u00e4r", "inte", "och", "la", "le",
})  # fmt: skip
ENGLISH = frozenset({
    "the", "is", "are", "i", "i'm", "i've", "all", "and", "it", "has", "have", "been", "with",
    "this", "that", "everything", "of", "for", "now", "we", "was", "were", "in",
})  # fmt: skip
