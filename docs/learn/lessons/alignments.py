# %% [en]
# # Alignments that cross
#
# A tiny translator gets {{exact:.0%}} of new sentences right, and nobody told it which word belongs to which: the crossing lines appear by themselves.
#
# English says *the old white house*, Spanish *la casa blanca vieja*: the noun comes first and the adjectives follow, the nearest one
# first. A translator that goes from left to right cannot copy its way through; for each word it writes it must know where to look.
# Attention gives it a weight for every source word, and the weights are learned from pairs of sentences alone. Draw them as a map,
# one row for each word written, and a translation without reordering is a diagonal. Where the order turns round, the map crosses.

# %% [es]
# # Alineamientos que se cruzan
#
# Un traductor diminuto acierta el {{exact:.0%}} de las frases nuevas, y nadie le dijo qué palabra corresponde a cuál: los cruces aparecen por sí solos.
#
# El inglés dice *the old white house*; el español, *la casa blanca vieja*: primero el nombre y detrás los adjetivos, antes el más
# cercano. Un traductor que va de izquierda a derecha no puede limitarse a copiar; para cada palabra que escribe tiene que saber
# dónde mirar. La atención le da un peso para cada palabra de la frase original, y los pesos se aprenden solo de pares de frases.
# Dibujados como un mapa, con una fila por palabra escrita, una traducción sin cambios de orden es una diagonal. Donde el orden se
# invierte, el mapa se cruza.

# %%
import random

import torch
from torch import nn

from atento.attention import Additive, Attention, Everything, Softmax
from atento.recurrent import GRU
from atento.views.live import Bars, HeatMap, LivePicture, Note, Slider

torch.set_default_dtype(torch.float64)  # the same numbers on every machine
FEMININE = 4  # change me: how many feminine nouns there are, 0 to 4
HIDDEN, SIZE = 32, 24
LA = dict(list({"house": "casa", "table": "mesa", "flower": "flor", "hen": "gallina"}.items())[:FEMININE])
NOUNS = {"cat": "gato", "dog": "perro", "horse": "caballo", "book": "libro"} | LA
ADJECTIVES = {"black": "negr", "white": "blanc", "red": "roj", "small": "pequeñ", "new": "nuev", "old": "viej"}
VERBS = {"sees": "ve", "finds": "encuentra", "buys": "compra"}
ENGLISH = ["the", *NOUNS, *ADJECTIVES, *VERBS]
SPANISH = [
    "(begin)",
    "el",
    "la",
    *NOUNS.values(),
    *(stem + end for stem in ADJECTIVES.values() for end in "oa"),
    *VERBS.values(),
]


def noun_phrase(dice, adjectives):
    noun, some = dice.choice(list(NOUNS)), dice.sample(list(ADJECTIVES), adjectives)
    article, end = ("la", "a") if noun in LA else ("el", "o")
    return ["the", *some, noun], [article, NOUNS[noun], *(ADJECTIVES[one] + end for one in reversed(some))]


def pairs(dice, count, before, after):
    """So many sentences with so many adjectives before and after the verb: English (B, T) and Spanish (B, T)."""
    sources, targets = [], []
    for _ in range(count):
        (source, target), verb = noun_phrase(dice, before), dice.choice(list(VERBS))
        more, mas = noun_phrase(dice, after)
        sources.append([ENGLISH.index(word) for word in (*source, verb, *more)])
        targets.append([SPANISH.index(word) for word in (*target, VERBS[verb], *mas)])
    return torch.tensor(sources), torch.tensor(targets)


# %% [en]
# {{vocabulary}} English words, {{words}} Spanish ones, because adjectives agree with their noun: *rojo* or *roja*. The network is the one of the
# lesson before: an encoder, a decoder, and additive attention between them (Bahdanau et al., 2015).

# %% [es]
# {{vocabulary}} palabras inglesas y {{words}} españolas, porque los adjetivos concuerdan con su nombre: *rojo* o *roja*. La red es la de la lección
# anterior: un codificador, un decodificador y atención aditiva entre ambos (Bahdanau et al., 2015).


# %%
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.read, self.write = nn.Embedding(len(ENGLISH), SIZE), nn.Embedding(len(SPANISH), SIZE)
        self.encoder, self.decoder = GRU(SIZE, HIDDEN, bidirectional=True), GRU(SIZE, HIDDEN)
        self.bridge = nn.Linear(2 * HIDDEN, HIDDEN)
        score = Additive(HIDDEN, 2 * HIDDEN, hidden_size=HIDDEN)
        self.attention = Attention(score, Softmax(), Everything())
        self.output = nn.Linear(3 * HIDDEN, len(SPANISH))

    def forward(self, source, target):
        """Logits (B, T, words) given the true words before, and the attention weights (B, T, S)."""
        memory, _ = self.encoder(self.read(source))  # (B, S, 2·HIDDEN)
        before = torch.cat([torch.zeros_like(target[:, :1]), target[:, :-1]], dim=1)
        start = self.bridge(memory.mean(dim=1)).tanh().unsqueeze(0)
        states, _ = self.decoder(self.write(before), state=start)
        valid = torch.ones_like(source, dtype=torch.bool)
        seen = self.attention(states, memory, memory, valid=valid)
        return self.output(torch.cat([states, seen], dim=-1)), self.attention.weights(states, memory, valid=valid)


STOPS = [0, 25, 50, 75, 100, 125, 150, 200, 250, 300, 350]
torch.manual_seed(0)
network, dice = Translator(), random.Random(0)
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
asked, answers = pairs(random.Random(9), 200, 2, 2)
matches, maps = [], []
for step in range(STOPS[-1] + 1):
    if step in STOPS:
        with torch.no_grad():
            logits, weights = network(asked, answers)
        matches.append((logits.argmax(-1) == answers).all(dim=1).double().mean().item())
        maps.append(weights)
    source, target = pairs(dice, 32, dice.randrange(3), dice.randrange(3))
    logits, _ = network(source, target)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
exact, vocabulary, words = matches[-1], len(ENGLISH), len(SPANISH) - 1

# %%
TITLE, CAPTION = (
    "The map forms",
    "Rows: Spanish words as they are written. Columns: English words. The stronger the colour, the more weight.",
)
NOTE = "after {step} steps {right:.0%} of 200 new sentences are translated without a mistake"
WORDS = {
    TITLE: "El mapa se forma",
    CAPTION: "Filas: palabras españolas, según se escriben. Columnas: palabras inglesas. Cuanto más intenso el color, más peso.",
    NOTE: "tras {step} pasos, {right:.0%} de 200 frases nuevas se traducen sin error",
    "training step": "paso de entrenamiento",
    "sentence": "frase",
    "English": "inglés",
    "Spanish": "español",
}


def attention_map(step, sentence):
    at, row = STOPS.index(step), sentence - 1
    columns = [ENGLISH[word] for word in asked[row]]
    rows = [SPANISH[word] for word in answers[row]]
    chart = HeatMap(maps[at][row], rows=rows, columns=columns, across="English", up="Spanish", limits=(0, 1))
    return [chart, Note(NOTE, step=step, right=matches[at])]


LivePicture(
    attention_map,
    Slider("training step", STOPS, start=350),
    Slider("sentence", [1, 2, 3]),
    title=TITLE,
    caption=CAPTION,
    words={"es": WORDS},
)

# %% [en]
# Press play. At first the map is grey: every word gets the same weight, and the translation is a guess. Then columns appear; the
# decoder has found that some words are worth looking at, and several rows look at the same one. The nouns find their rows first, the
# adjectives follow, and the two slopes that run against the diagonal are the adjectives with their nouns. As the rows find their
# words, the share of correct sentences rises, with some steps back on the way.
#
# ## The article looks at the noun
#
# One row does not look where a dictionary would. *The* has one form in English and two in Spanish, and which of them is right
# depends on the noun, three words further on. So where does the first article look?

# %% [es]
# Pulse reproducir. Al principio el mapa es gris: todas las palabras reciben el mismo peso y la traducción es una conjetura. Después
# aparecen columnas; el decodificador ha descubierto que vale la pena mirar algunas palabras, y varias filas miran la misma. Los
# nombres encuentran su fila primero, los adjetivos los siguen, y las dos pendientes contrarias a la diagonal son los adjetivos con
# sus nombres. Según las filas encuentran sus palabras, sube la proporción de frases correctas, con algún retroceso por el camino.
#
# ## El artículo mira al nombre
#
# Una fila no mira adonde miraría un diccionario. *The* tiene una forma en inglés y dos en español, y cuál es la correcta depende
# del nombre, tres palabras más allá. ¿Adónde mira, entonces, el primer artículo?

# %%
looks = [
    weights[:, 0, :4].mean(dim=0).tolist() for weights in maps
]  # the first Spanish word over the first four English ones
article, noun = looks[-1][0], looks[-1][-1]
early, was = STOPS[1], looks[1]
SECOND, MEAN = (
    "Where the article looks",
    "Mean weight of the first Spanish word on the first four English ones, over 200 sentences.",
)
GENDER = WORDS | {
    SECOND: "Adónde mira el artículo",
    MEAN: "Peso medio de la primera palabra española sobre las cuatro primeras inglesas, en 200 frases.",
    "article": "artículo", "first adjective": "adjetivo 1", "second adjective": "adjetivo 2", "noun": "nombre",
    "weight": "peso",
}  # fmt: skip


def where(step):
    names = ["article", "first adjective", "second adjective", "noun"]
    return Bars(names, {"weight": looks[STOPS.index(step)]}, up="weight", y_limits=(0, 1))


LivePicture(where, Slider("training step", STOPS, start=350), title=SECOND, caption=MEAN, words={"es": GENDER})

# %% [en]
# Step by step: after {{early}} steps the article gives {{was[0]:.0%}} of its weight to the English article, as a dictionary would, and {{was[3]:.0%}} to the
# noun. At the end it is {{article:.0%}} and {{noun:.0%}}. The decoder knows by itself that an article is due; what it needs from the source is the gender, and the gender is in the noun.
# An attention map shows where information comes from, which is not always the word a person would underline.
#
# ## Change one number
#
# Set `FEMININE = 0`: all nouns are masculine, the article is always *el*, and there is nothing to look for. Does it still look at the
# noun? (It may: after the article the noun comes next, and looking ahead costs nothing.)

# %% [es]
# Paso a paso: tras {{early}} pasos el artículo da el {{was[0]:.0%}} de su peso al artículo inglés, como haría un diccionario, y el {{was[3]:.0%}} al
# nombre. Al final son el {{article:.0%}} y el {{noun:.0%}}. Que toca un artículo, el decodificador lo sabe por sí solo; lo que necesita de la
# frase original es el género, y el género está en el nombre.
# Un mapa de atención muestra de dónde viene la información, que no siempre es la palabra que subrayaría una persona.
#
# ## Cambie un número
#
# Ponga `FEMININE = 0`: todos los nombres son masculinos, el artículo es siempre *el* y no hay nada que buscar. ¿Sigue mirando al
# nombre? (Puede ser: tras el artículo viene el nombre, y mirar por adelantado no cuesta nada.)
