"""What a file is meant for: facts about it become a likelihood for each task, and a reason in words.

A likelihood of `LIKELY` or more means that the file has all the task needs; what speaks for another task lowers it."""

from collections.abc import Mapping, Sequence

from atento.data.columns.column import Column
from atento.data.evidence.evidence import Evidence
from atento.data.examples.translations import last_name
from atento.data.records import counted
from atento.data.tables.column_names import CERTAIN_LABEL, LABEL, METADATA, ROW_NAMES, TAGS, TEXT, TWO_TEXTS, is_named
from atento.data.tables.headers import LANGUAGES, PAIR_NAMES
from atento.data.tables.sniffing import is_entity
from atento.spec import DataRecipe
from atento.tasks.task import Recognition

SURE, CLEAR, FAIR, EVEN, WEAK, HARDLY, NO = 0.97, 0.9, 0.7, 0.5, 0.4, 0.2, 0.05
ALIKE = 2.0  # two texts that are compared are seldom twice as long, one as the other
KIN = 0.15  # and have words in common
VARIED = 0.2  # of the cells are different
LISTS = 0.1  # of the cells are lists; others hold one item, or none
KINDS, MANY_ROWS = 0.1, 50  # of so many rows, the share of different cells of a column of kinds
AGAIN = 0.4  # different questions among as many rows with an answer each, at most
FEW_JUDGEMENTS = 10  # labels of a question and an answer
IMAGES = 0.9  # of the cells name images
ANSWERS = frozenset(target for _, target in PAIR_NAMES) | LANGUAGES | CERTAIN_LABEL  # names of what is to be learned
SCORES = frozenset({"score", "scores", "similarity", "relatedness"})
SOURCES = frozenset({"genre", "genres", "type", "topic", "category", "split", "set"})  # of pairs that a number scores
SPELLED = 5  # words at most that say a number or a date

# Of two tasks as likely, the one that asks more of a file goes first.
ORDER = ("tag", "match", "label", "classify", "classify-series", "transcribe", "translate", "estimate", "generate")


def ranked(guesses: Mapping[str, Recognition]) -> dict[str, Recognition]:
    """The guesses by likelihood, the highest first."""
    place = {name: at for at, name in enumerate(ORDER)}
    ordered = sorted(guesses, key=lambda name: (-guesses[name].likelihood, place.get(name, len(ORDER))))
    return {name: guesses[name] for name in ordered}


def rule_out(
    guesses: Mapping[str, Recognition], data: DataRecipe, keys: Mapping[str, Sequence[str]]
) -> dict[str, Recognition]:
    """The guesses without the tasks that have no use for a column that the user named; `keys` are the keys of the
    recipe that name the columns of each task. A named time or covariate leaves only forecasts.
    """
    timed = "time" if data.time else "future_covariates" if data.future_covariates else ""
    key = "label" if data.label else "target" if data.target else ""
    if timed and not data.label and "forecast" in guesses:
        reason = f"data.{timed}={getattr(data, timed)} names a column of a series"
        return {name: Recognition(SURE if name == "forecast" else NO, reason) for name in guesses}
    if not key:
        return dict(guesses)
    reason = f"data.{key}={getattr(data, key)} names a {key}, and this task has none"
    return {name: guess if key in keys[name] else Recognition(NO, reason) for name, guess in guesses.items()}


def label_texts(evidence: Evidence) -> Recognition:
    """A text and one of few labels beside it: classify."""
    text, label = evidence.column(evidence.roles.text), evidence.column(evidence.roles.label)
    if evidence.kind == "folder" and label is not None:
        return Recognition(SURE, f"a folder of texts, one sub-folder or file for each of {label.distinct} labels")
    if evidence.kind == "lines" and label is not None and not holds_several(evidence):
        return Recognition(SURE, f"each line is a label and a text; {label.distinct} different labels")
    if is_plain(evidence):
        return Recognition(NO, "plain text has no labels")
    if text is None or is_wordless(evidence, text):
        return Recognition(NO, "no column holds text")
    named = [column for column in evidence.columns if column is not text and is_named(column.name, CERTAIN_LABEL)]
    if label is None and named and named[0].distinct:
        return Recognition(WEAK, f"nearly all cells of {named[0].name!r} differ; labels must come again and again")
    if label is None:
        return Recognition(
            HARDLY, f"no column holds few labels that come again and again beside the text {text.name!r}"
        )
    reason = f"column {text.name!r} holds texts and {label.name!r} one of {label.distinct} labels"
    if holds_several(evidence):
        several = evidence.columns[evidence.roles.labels].name
        return Recognition(WEAK, f"{reason}, but cells of {several!r} hold several")
    if evidence.inflection is not None:
        return Recognition(WEAK, f"{reason}, but those are features of a form")
    if tags_in_step(evidence):
        return Recognition(HARDLY, f"{reason}, but each word has its own tag")
    if compares(evidence):
        return Recognition(WEAK, f"{reason}, but there is a second text to compare with")
    if translates_by_name(evidence):
        return Recognition(WEAK, f"{reason}, but the columns are named as those of a translation")
    if len(evidence.columns) == 2 or is_named(label.name, LABEL):
        return Recognition(CLEAR, reason)
    return Recognition(FAIR, reason)


def label_sets(evidence: Evidence) -> Recognition:
    """A text and several labels beside it: label."""
    roles, text = evidence.roles, evidence.column(evidence.roles.text)
    labels = evidence.column(roles.labels)
    if is_plain(evidence) or evidence.kind in ("folder", "conll", "parallel"):
        return Recognition(NO, "no column holds several labels per text")
    if text is None or is_wordless(evidence, text):
        return Recognition(NO, "no column holds text")
    if tags_in_step(evidence):
        return Recognition(HARDLY, "what stands beside the words is one tag per word, not labels of the whole text")
    if labels is not None and labels.share_sequences > 0.95 and any("." in cell for cell in labels.examples):
        return Recognition(WEAK, f"cells of {labels.name!r} hold several numbers, not labels")
    if labels is not None and evidence.inflection is not None:
        return Recognition(WEAK, f"{labels.name!r} holds features of a form rather than labels of a text")
    if labels is not None and compares(evidence):
        return Recognition(
            WEAK, f"cells of {labels.name!r} may hold several labels, but there are two texts to compare"
        )
    if labels is not None:
        return Recognition(SURE, f"column {text.name!r} holds texts and cells of {labels.name!r} several labels")
    if len(roles.indicators) > 1:
        names = ", ".join(repr(evidence.columns[at].name) for at in roles.indicators[:3])
        more = f" and {len(roles.indicators) - 3} more" if len(roles.indicators) > 3 else ""
        return Recognition(CLEAR, f"beside the text {text.name!r}, {names}{more} say yes or no, each of one label")
    return Recognition(HARDLY, f"no cell beside the text {text.name!r} holds more than one label")


def tag_words(evidence: Evidence) -> Recognition:
    """Words with a tag each: tag."""
    words, tags = evidence.column(evidence.roles.words), evidence.column(evidence.roles.tags)
    if evidence.kind == "conll" and evidence.rows + len(evidence.refused) == 1:
        return Recognition(WEAK, "one word per line with its tags, but no blank line separates sentences")
    if evidence.kind == "conll":
        return Recognition(SURE, "one word per line with its tags, and a blank line between sentences (CoNLL)")
    if is_plain(evidence) or evidence.kind == "folder":
        return Recognition(NO, "words have no tags")
    if words is None or tags is None:
        return Recognition(NO, "no two columns have as many items in each cell")
    reason = f"cells of {words.name!r} and {tags.name!r} have as many items, those of {tags.name!r} from a small set"
    if tags_in_step(evidence):
        return Recognition(SURE, reason)
    return Recognition(WEAK, f"{reason}, but nothing names them words and tags")


def translate_texts(evidence: Evidence) -> Recognition:
    """Two columns of varied text: translate."""
    if evidence.kind == "parallel" and not tags_in_step(evidence):
        return Recognition(SURE, f"{len(evidence.columns)} files in step, line by line")
    if is_plain(evidence) or evidence.kind in ("folder", "lines", "conll"):
        return Recognition(NO, "there is one text per row; two are needed")
    if evidence.inflection is not None:
        lemma, form, features = (repr(evidence.columns[at].name) for at in evidence.inflection)
        return Recognition(SURE, f"columns {lemma} and {form} hold words and forms of them, {features} their features")
    texts = varied_texts(evidence)
    empty = [column for column in evidence.columns if not column.distinct and is_named(column.name, ANSWERS)]
    if texts and empty:
        return Recognition(WEAK, f"column {texts[0].name!r} holds varied text, but {empty[0].name!r} is empty")
    if len(texts) < 2:
        names = f" ({texts[0].name!r})" if texts else ""
        return Recognition(
            HARDLY / 2, f"{len(texts)} of {len(evidence.columns)} columns hold varied text{names}; two are needed"
        )
    reason = f"columns {texts[0].name!r} and {texts[1].name!r} both hold varied text"
    labels = [column for column in texts[:2] if is_named(column.name, CERTAIN_LABEL) and column.mean_words < 2]
    if labels:
        return Recognition(HARDLY, f"{reason}, but {labels[0].name!r} is named as labels are")
    if tags_in_step(evidence):
        return Recognition(WEAK, f"{reason}, but one is a tag for each word of the other")
    if asks_again(evidence):
        return Recognition(WEAK, f"{reason}, but one comes again and again, and a label judges each pair")
    if translates_by_name(evidence):
        return Recognition(SURE, f"{reason} and are named as source and target are")
    if holds_several(evidence) or compares(evidence):
        return Recognition(WEAK, f"{reason}, but a third column holds labels")
    if evidence.text_similarity >= KIN and any(is_score(column) for column in evidence.columns):
        return Recognition(WEAK, f"{reason}, but they are much alike and a third column scores them")
    if evidence.roles.label >= 0 and evidence.columns[evidence.roles.label] not in texts[:2]:
        return Recognition(EVEN, f"{reason}; a further column could be a label")
    return Recognition(CLEAR if len(evidence.columns) == 2 else FAIR, reason)


def match_texts(evidence: Evidence) -> Recognition:
    """Two texts and a label that compares them: match."""
    first, second = evidence.column(evidence.roles.first), evidence.column(evidence.roles.second)
    label = evidence.column(evidence.roles.label)
    if first is None or second is None:
        return Recognition(NO, "two columns of text are needed, to be compared")
    if evidence.kind == "parallel" or label is None:
        return Recognition(HARDLY, f"no label says how {first.name!r} and {second.name!r} compare")
    reason = (
        f"columns {first.name!r} and {second.name!r} hold two texts and {label.name!r} one of {label.distinct} labels"
    )
    if evidence.inflection is not None:
        return Recognition(HARDLY, f"{reason}, but the second is a form of the first")
    scores = [column for column in evidence.columns if is_score(column) and is_named(column.name, SCORES)]
    if label.distinct < 2 or (scores and is_named(label.name, SOURCES)):
        scored = f" and {scores[0].name!r} scores how they compare, by a number" if scores else ""
        return Recognition(WEAK, f"{reason}, but {label.name!r} says where they are from{scored}")
    if compares(evidence):
        return Recognition(SURE, reason)
    return Recognition(WEAK, f"{reason}, but the texts have little in common")


def plain_text(evidence: Evidence) -> Recognition:
    """Running text and nothing beside it: generate."""
    if is_plain(evidence) and evidence.series is None:
        return Recognition(CLEAR, "plain text, nothing beside it")
    text = evidence.column(evidence.roles.text)
    if text is None or is_wordless(evidence, text) or evidence.kind in ("folder", "lines", "conll", "parallel"):
        return Recognition(NO, "this is no plain text")
    others = [column for column in evidence.columns if column is not text]
    empty = [column for column in others if not column.distinct and is_named(column.name, ANSWERS)]
    if empty:
        return Recognition(HARDLY, f"{empty[0].name!r} beside {text.name!r} is empty")
    if not others:
        return Recognition(CLEAR if text.mean_words > 1 else FAIR, f"{text.name!r} is the only column")
    if all(column.is_metadata or is_identifier(column, text) for column in others):
        return Recognition(FAIR, f"{text.name!r} is the only column of text, and no other is a label")
    return Recognition(HARDLY, f"there is more than text: {counted(len(others), 'column')} beside {text.name!r}")


def is_plain(evidence: Evidence) -> bool:
    """Whether a file is lines of text and no table, or a folder of texts with no labels."""
    return evidence.kind == "text" or (evidence.kind == "folder" and evidence.roles.label < 0)


def is_wordless(evidence: Evidence, column: Column) -> bool:
    """Whether a column holds no text: by its cells, as the time of a series, or since it names images, the rows, or a
    few kinds, as columns of facts do.
    """
    share = column.distinct / max(1, evidence.rows)
    kinds = evidence.rows >= MANY_ROWS and (share <= KINDS if column.mean_words < 2 else share <= KINDS / 3)
    kinds = kinds and column.mean_words <= 4
    names_rows = is_named(column.name, ROW_NAMES) and column.mean_words <= 1 and column.share_distinct == 1
    return (
        column.is_not_text
        or column.share_images > IMAGES
        or names_rows
        or (kinds and not is_named(column.name, TEXT))
        or (evidence.series is not None and column.name in evidence.series.time)
    )


def holds_several(evidence: Evidence) -> bool:
    """Whether a column's cells hold several labels each, or several columns a label each."""
    return evidence.roles.labels >= 0 and not evidence.inflection is not None and not tags_in_step(evidence)


def several_labels_in(evidence: Evidence, others: Sequence[Column]) -> Column | None:
    """The column among these whose cells are plainly several labels: lists of texts, or named as labels are."""
    named = evidence.column(evidence.roles.labels)
    lists = [column for column in others if column.share_lists > LISTS and column.share_sequences <= LISTS]
    if lists:
        return lists[0]
    return named if named in others and named is not None and is_named(named.name, LABEL | TAGS) else None


def tags_in_step(evidence: Evidence) -> bool:
    """Whether one column tags the words of another: lists, or named so, or such as B-PER and O."""
    words, tags = evidence.column(evidence.roles.words), evidence.column(evidence.roles.tags)
    if words is None or tags is None:
        return False
    entities = all(is_entity(tag) for cell in tags.examples for tag in cell.split())
    return evidence.kind == "conll" or words.share_lists > 0.5 or is_named(tags.name, TAGS | LABEL) or entities


def compares(evidence: Evidence) -> bool:
    """Whether a label stands beside two texts that are known as a pair by name, or are much alike."""
    first, second = evidence.column(evidence.roles.first), evidence.column(evidence.roles.second)
    if first is None or second is None or evidence.roles.label < 0:
        return False
    names = (bare(first.name), bare(second.name))
    if names in TWO_TEXTS or (names[0][:-1] == names[1][:-1] and len(names[0]) > 1):
        return True
    longer, shorter = sorted((first.mean_words, second.mean_words), reverse=True)
    return asks_again(evidence) or (longer <= ALIKE * shorter and evidence.text_similarity >= KIN)


def asks_again(evidence: Evidence) -> bool:
    """Whether one of two texts comes again with other texts beside it, and a label judges each pair: questions."""
    first, second = evidence.column(evidence.roles.first), evidence.column(evidence.roles.second)
    label = evidence.column(evidence.roles.label)
    if first is None or second is None or label is None or label.distinct > FEW_JUDGEMENTS:
        return False
    one, other = sorted((first, second), key=lambda column: column.share_distinct)
    return one.share_distinct <= AGAIN and other.share_distinct >= 2 * AGAIN and one.mean_words >= 4


def bare(name: str) -> str:
    """A name without signs, in small letters."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def translates_by_name(evidence: Evidence) -> bool:
    """Whether two columns of varied text are named as a source and its target are, or by two languages."""
    names = [last_name(column.name) for column in varied_texts(evidence)]
    return (
        any(one in names and other in names for one, other in PAIR_NAMES) or sum(map(LANGUAGES.__contains__, names)) > 1
    )


def varied_texts(evidence: Evidence) -> list[Column]:
    """The columns of text whose cells are not a few that come again; of two columns, numbers that are spelled, too."""
    varied = [column for column in evidence.columns if column.share_distinct > VARIED]
    texts = [column for column in varied if not is_wordless(evidence, column)]
    if len(texts) == 1 and len(varied) == len(evidence.columns) == 2 and texts[0].mean_words <= SPELLED:
        other = next(column for column in varied if column is not texts[0])
        return texts if other.is_counter or is_named(other.name, METADATA) or other.share_links > 0.5 else varied
    longest = max(texts, key=lambda column: column.mean_words, default=None)
    return [column for column in texts if longest is None or not is_identifier(column, longest)]


def is_identifier(column: Column, text: Column) -> bool:
    """Whether a column's single words, all of one length, only name the rows of a text."""
    return column.is_identifier and text.mean_words >= 3


def is_score(column: Column) -> bool:
    """Whether a column holds numbers that are no names of rows."""
    return column.share_numeric > 0.95 and not column.is_metadata


def most_varied(columns: Sequence[Column]) -> Column:
    """The column with most different values."""
    return max(columns, key=lambda column: column.distinct)
