"""What a decoder can copy: the target token that each source token is, by the vocabularies of both."""

from atento.data.text.levels import FeaturedVocabulary
from atento.data.text.subwords import Subwords
from atento.data.text.vocabulary import SPECIAL_TOKENS, TokenList, Vocabulary

NO_TOKEN = -1


def copied_tokens(source: Vocabulary, target: Vocabulary) -> tuple[int, ...]:
    """For each source token the target token of the same text, or −1: of features, special tokens and all others."""
    if isinstance(source, FeaturedVocabulary):
        return (*copied_tokens(source.text, target), *[NO_TOKEN] * len(source.features))
    known = {token: id for id, token in enumerate(signed_tokens(target)) if id >= len(SPECIAL_TOKENS)}
    own = signed_tokens(source)[len(SPECIAL_TOKENS) :]
    return (*[NO_TOKEN] * len(SPECIAL_TOKENS), *(known.get(token, NO_TOKEN) for token in own))


def signed_tokens(vocabulary: Vocabulary) -> list[str]:
    """All tokens, with the signs that join or part them; those of features after a tab are not among them."""
    if isinstance(vocabulary, TokenList):
        return list(vocabulary.id_to_token)
    if isinstance(vocabulary, FeaturedVocabulary):
        return signed_tokens(vocabulary.text)
    if isinstance(vocabulary, Subwords):
        return vocabulary.tokens(range(len(vocabulary)))
    raise TypeError(f"{type(vocabulary).__name__} has no list of tokens")
