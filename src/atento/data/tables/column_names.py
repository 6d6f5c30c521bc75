"""Usual names of columns of texts, labels, words and tags, in several languages."""

import re

TEXT_NAMES = """
    text texts sentence sentences review reviews comment comments tweet tweets question questions headline headlines
    content contents body message messages document documents post posts utterance utterances query passage
    abstract article phrase phrases input source lyrics sms email sequence string plot
    frase frases texto textos oración opinión comentario reseña pregunta titular satz sätze kommentar bewertung
    texte commentaire avis testo recensione commento zin tekst recensie zdanie opinia komentarz věta
    текст предложение отзыв комментарий metin cümle yorum
    文本 句子 评论 内容 文 テキスト レビュー 文章 본문 문장 리뷰 نص جملة
"""
LABEL_NAMES = """
    label labels class classes category categories categoría categoria catégorie kategorie sentiment sentiments stars
    rating ratings target tag tags topic topics emotion emotions intent intents polarity polarité polaridad polaridade
    etiqueta etiquetas clase classe classi klasse etikett étiquette sentimiento sentimento stimmung gefühl emoción
    emozione tema thema sujet type tipo typ gold truth answer verdict judgment judgement entailment stance
    activity activities aktivität actividad activité attività
    spam toxic hate genre genres género géneros genere gender sex quality outcome annotation coarse fine score
    y label_text
    kategoria etykieta metka метка класс категория тональность etiket duygu sınıf kategori 标签 类别 情感 ラベル 感情
    라벨 감정 تصنيف
"""
CERTAIN_LABEL_NAMES = """
    label labels class category sentiment polarity emotion intent stars rating etiqueta clase klasse classe étiquette
    etykieta метка etiket 标签 ラベル 라벨
"""
METADATA_NAMES = """
    id ids idx index key uid guid uuid split fold subset set partition lang language locale user username author name
    date time timestamp year month day url link source file filename path version country annotator worker
    confidence count length unnamed
"""
WORD_NAMES = "words word tokens token forms form palabras wörter mots parole слова text sentence"
TAG_NAMES = "tags tag labels label pos upos xpos ner ner_tags pos_tags bio iob slots entities etiquetas chunk"
ENTITY_NAMES = "ner entities entity slots slot bio iob iob2"
WORD_OF_ROW_NAMES = "word token form palabra wort mot parola слово 词"  # in tables with one word per row
SENTENCE_NAMES = "sentence sent satz frase oración oracion phrase zin предложение 句子"

TEXT = frozenset(TEXT_NAMES.split())
LABEL = frozenset(LABEL_NAMES.split())
CERTAIN_LABEL = frozenset(CERTAIN_LABEL_NAMES.split())
ROW_NAMES = frozenset({"id", "ids", "idx", "index", "key", "uid", "guid", "uuid"})  # of columns that number rows
METADATA = frozenset(METADATA_NAMES.split())
WORDS = frozenset(WORD_NAMES.split())
TAGS = frozenset(TAG_NAMES.split())
ENTITIES = frozenset(ENTITY_NAMES.split())
WORD_OF_ROW = frozenset(WORD_OF_ROW_NAMES.split())
SENTENCE = frozenset(SENTENCE_NAMES.split())

# Names of two columns of texts that are compared, the surest first; in lower case without punctuation.
TWO_TEXTS = (
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("sentencea", "sentenceb"), ("question1", "question2"),
    ("texta", "textb"), ("text1", "text2"), ("s1", "s2"), ("q1", "q2"), ("question", "passage"),
    ("question", "sentence"), ("question", "context"), ("query", "passage"), ("query", "document"),
    ("claim", "evidence"), ("frase1", "frase2"), ("satz1", "satz2"), ("premisa", "hipótesis"),
)  # fmt: skip


def is_named(name: str, known: frozenset[str]) -> bool:
    """Whether a column's name contains a known word, as in `review_text`, `ner_tags` or `Sentence`."""
    return any(part in known for part in re.split(r"[\W\d_]+", name.lower()) if part)
