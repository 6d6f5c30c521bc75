# %% [en]
# # What words come to mean
#
# Nobody tells the network what a cat is: from which words stand near which, it puts {{right:.0%}} of the words beside one
# of their own kind, and finds that *king* − *man* + *woman* is *{{answer}}*.
#
# A word begins as a random row of numbers. Training moves it until it predicts the words around it. Words with the same
# company end up in the same place, and that is all that meaning is here.
# %% [es]
# # Lo que llegan a significar las palabras
#
# Nadie le dice a la red qué es un gato: por las palabras que están cerca de otras, pone el {{right:.0%}} de las palabras
# junto a una de su clase, y encuentra que *king* − *man* + *woman* es *{{answer}}*.
#
# Una palabra empieza como una fila de números al azar. El entrenamiento la mueve hasta que predice las palabras que la
# rodean. Las palabras con la misma compañía acaban en el mismo lugar, y aquí el significado no es más que eso. Las frases
# del conjunto están en inglés.
# %% [en]
# ## Counting company
#
# The built-in set `meaning` has {{SENTENCES}} short sentences about people, fruit, devices, animals and cities. Everything
# the network will know of them is a table: how often each word stands at most {{WINDOW}} places from each other word.
# %% [es]
# ## Contar la compañía
#
# El conjunto `meaning` trae {{SENTENCES}} frases breves sobre personas, frutas, aparatos, animales y ciudades. Todo lo que
# la red sabrá de ellas es una tabla: cuántas veces está cada palabra a {{WINDOW}} lugares o menos de cada otra.
# %%
import numpy as np
import torch
from torch.nn.functional import logsigmoid

from atento.data import WordSpace
from atento.data.builtin import BUILTIN
from atento.spec import DataRecipe
from atento.views.live import Bars, HeatMap, LivePicture, Note, Plane, Slider

WINDOW = 5  # change me: how far apart two words may stand

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
sentences = [text.split() for text, _ in BUILTIN["meaning"].make(DataRecipe(train="meaning"), 0).train]
words = sorted({word for sentence in sentences for word in sentence})
row = {word: number for number, word in enumerate(words)}
counts = np.zeros((len(words), len(words)))  # (word, word near it)
for sentence in sentences:
    rows = [row[word] for word in sentence]
    for at in range(len(rows)):
        for near in rows[max(0, at - WINDOW) : at]:
            counts[rows[at], near] += 1
            counts[near, rows[at]] += 1
SENTENCES = len(sentences)
print(len(words), "different words;", " / ".join(" ".join(sentence) for sentence in sentences[:3]))
# %% [en]
# ## The map forms
#
# Each word w gets a vector v of {{SIZE}} numbers, and a second one, u, for its part as a neighbour. Skip-gram (Mikolov et
# al., 2013) makes v·u large where two words do meet, and small for words drawn at random. Here the whole table is used in
# each step, so that nothing is left to chance but the start.
# %% [es]
# ## El mapa se forma
#
# Cada palabra w recibe un vector v de {{SIZE}} números, y otro, u, para su papel de vecina. Skip-gram (Mikolov et al.,
# 2013) hace grande v·u donde dos palabras se encuentran de verdad, y pequeño para palabras sacadas al azar. Aquí cada paso
# usa toda la tabla, de modo que nada queda al azar salvo el comienzo.
# %%
SIZE = 32  # change me: numbers of each vector
STOPS = [0, 20, 40, 50, 60, 80, 100, 200, 400]  # training steps at which the vectors are kept

torch.manual_seed(0)
pairs = torch.tensor(counts / counts.sum())
own, noise = pairs.sum(1), pairs.sum(0) ** 0.75
random = own[:, None] * noise / noise.sum()  # how often a word meets one drawn at random
v = (0.1 * torch.randn(len(words), SIZE)).requires_grad_()
u = torch.zeros(len(words), SIZE, requires_grad=True)
optimizer = torch.optim.Adam([v, u], lr=0.02)
spaces = {}
for step in range(STOPS[-1] + 1):
    if step in STOPS:
        spaces[step] = WordSpace(words, v.detach().clone())
    scores = v @ u.T
    loss = -(pairs * logsigmoid(scores) + 5 * random * logsigmoid(-scores)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

KINDS = {
    "people": ["man", "woman", "king", "queen", "prince", "princess", "boy", "girl"],
    "fruit": ["orange", "pear", "cherry", "plum"],
    "devices": ["phone", "laptop", "tablet", "printer"],
    "animals": ["cat", "dog", "horse", "goat", "rabbit"],
    "cities": ["Lima", "Quito", "Bogotá", "Madrid", "Sevilla"],
}
kind = {word: name for name, members in KINDS.items() for word in members}


def share_right(space):  # words whose nearest among the others is of their kind
    inside = WordSpace(list(kind), [space.vector(word) for word in kind])
    return sum(kind[inside.nearest(word, 1)[0].word] == kind[word] for word in kind) / len(kind)


shares = {step: share_right(space) for step, space in spaces.items()}
right = shares[STOPS[-1]]
chance = np.mean([(len(KINDS[name]) - 1) / (len(kind) - 1) for name in kind.values()])
print({step: f"{share:.0%}" for step, share in shares.items()})
# %%
NAMES = {
    **{"people": "personas", "fruit": "frutas", "devices": "aparatos", "animals": "animales", "cities": "ciudades"},
    **{"training steps": "pasos de entrenamiento", "components": "componentes", "1 and 2": "1 y 2", "3 and 4": "3 y 4"},
}
SPANISH = NAMES | {
    "A map of words": "Un mapa de palabras",
    "After {steps} steps {share:.0%} of the words have one of their kind as the nearest.": (
        "Tras {steps} pasos, el {share:.0%} de las palabras tiene como más próxima una de su clase."
    ),
}
last = np.stack([spaces[STOPS[-1]].directions[row[word]] for word in kind])
_, strengths, axes = np.linalg.svd(last - last.mean(0), full_matrices=False)  # one view for all steps: nothing jumps
shown = strengths**2 / (strengths**2).sum()  # the share of the variance on each component
VIEWS = {"1 and 2": axes[:2], "3 and 4": axes[2:4]}


def placed(steps, components):
    flat = {word: VIEWS[components] @ (spaces[steps].directions[row[word]] - last.mean(0)) for word in kind}
    groups = {name: np.round([flat[word] for word in members], 3) for name, members in KINDS.items()}
    said = "After {steps} steps {share:.0%} of the words have one of their kind as the nearest."
    return [Plane(groups, labels=KINDS), Note(said, steps=steps, share=shares[steps])]


hero = LivePicture(
    placed,
    Slider("training steps", STOPS, STOPS[-1]),
    Slider("components", list(VIEWS)),
    title="A map of words",
    words={"es": SPANISH},
)
hero
# %% [en]
# At first {{shares[0]:.0%}} of the words have one of their own kind as the nearest, where chance
# gives {{chance:.0%}} on average; after {{STOPS[8]}} steps {{right:.0%}}.
#
# **What the map hides.** A sheet has two directions, the vectors have {{SIZE}}. The first two components hold
# {{plane:.0%}} of the variance: two clusters that touch on the map may be far apart. The second slider turns to the
# components 3 and 4, which hold {{behind:.0%}}. The picture below hides nothing: the cosine of every word with every other,
# 1 for the same direction.
# %% [es]
# Al principio el {{shares[0]:.0%}} de las palabras tiene como más próxima una de su clase, cuando el azar da un
# {{chance:.0%}} en promedio; tras {{STOPS[8]}} pasos, el {{right:.0%}}.
#
# **Lo que el mapa oculta.** Una hoja tiene dos direcciones; los vectores tienen {{SIZE}}. Las dos primeras componentes
# contienen el {{plane:.0%}} de la varianza: dos grupos que se tocan en el mapa pueden estar lejos. El segundo deslizador
# pasa a las componentes 3 y 4, que contienen el {{behind:.0%}}. La figura siguiente no oculta nada: el coseno de cada
# palabra con cada otra, 1 si tienen la misma dirección.
# %%
plane, behind = shown[:2].sum(), shown[2:4].sum()
SPANISH = NAMES | {
    "The cosine of every two words": "El coseno de cada dos palabras",
    "After {steps} steps: mean cosine {same:.2f} within a kind, {different:.2f} between kinds.": (
        "Tras {steps} pasos: coseno medio {same:.2f} dentro de una clase, {different:.2f} entre clases."
    ),
}
ORDERED = [*list(kind)[:12], "apple", *list(kind)[12:]]  # the apple between fruit and devices
same = np.array([[kind[one] == kind[other] for other in kind] for one in kind])
different = ~same
np.fill_diagonal(same, False)


def cosines_of(steps, chosen):
    rows = np.stack([spaces[steps].directions[row[word]] for word in chosen])
    return rows @ rows.T


def cosines(steps):
    between = cosines_of(steps, list(kind))
    said = "After {steps} steps: mean cosine {same:.2f} within a kind, {different:.2f} between kinds."
    note = Note(said, steps=steps, same=between[same].mean(), different=between[different].mean())
    table = np.round(cosines_of(steps, ORDERED), 2)
    return [HeatMap(table, rows=ORDERED, columns=ORDERED, diverging=True, limits=(-1, 1)), note]


final = cosines_of(STOPS[-1], list(kind))
within, across = final[same].mean(), final[different].mean()
title = "The cosine of every two words"
LivePicture(cosines, Slider("training steps", STOPS, STOPS[-1]), title=title, words={"es": SPANISH})
# %% [en]
# Within a kind the mean cosine is {{within:.2f}}, between kinds {{across:.2f}}. Look at *apple*: it was in sentences about
# fruit and about devices. It has one vector for both, and stands between them: {{fruit:.2f}} to fruit, {{devices:.2f}} to
# devices. A vector for each word cannot know which apple is meant; attention, which reads the sentence, can.
#
# ## Calculating with words
#
# A king is to a man as a queen is to a woman. If this is a direction, a sum finds it. The set was made so that words share
# traits, so it should hold here; in everyday text such sums fail often.
# %% [es]
# Dentro de una clase el coseno medio es {{within:.2f}}; entre clases, {{across:.2f}}. Mire *apple*: estaba en frases sobre
# frutas y sobre aparatos (la manzana y la marca). Tiene un solo vector para ambas cosas y queda en medio: {{fruit:.2f}} con
# las frutas, {{devices:.2f}} con los aparatos. Un vector por palabra no puede saber de qué manzana se habla; la atención,
# que lee la frase, sí.
#
# ## Calcular con palabras
#
# *King* (rey) es a *man* (hombre) como *queen* (reina) a *woman* (mujer). Si eso es una dirección, una suma la encuentra.
# El conjunto se hizo de modo que las palabras comparten rasgos, así que aquí debería cumplirse; en textos corrientes esas
# sumas fallan a menudo.
# %%
space = spaces[STOPS[-1]]  # change me: another number of training steps, such as spaces[50]
fruit, devices = (np.mean([space.cosine("apple", word) for word in KINDS[name]]) for name in ("fruit", "devices"))
answer = space.analogy("king", "man", "woman", 1)[0].word
COUPLES = [("man", "woman"), ("king", "queen"), ("prince", "princess"), ("boy", "girl")]
asked = [(he, him, her, she) for he, she in COUPLES for him, her in COUPLES if he != him]
TOTAL = len(asked)
held = sum(space.analogy(he, him, her, 1)[0].word == she for he, him, her, she in asked)
target = [
    space.directions[row[he]] - space.directions[row[him]] + space.directions[row[her]] for he, him, her, _ in asked
]
naive = sum(
    words[int((space.directions @ sum_).argmax())] == she for sum_, (*_, she) in zip(target, asked, strict=True)
)
print(f"{held} of {len(asked)} analogies hold; {naive} where the three words of the question may be the answer")
QUESTIONS = ["cat", "apple", "Lima", "king", "king - man + woman", "prince - king + queen", "girl - boy + man"]
SPANISH = NAMES | {
    **{"question": "pregunta", "cosine": "coseno", "The nearest words": "Las palabras más próximas"},
    "Nearest to {question}: {first}, with a cosine of {cosine:.2f}.": (
        "La más próxima a {question}: {first}, con un coseno de {cosine:.2f}."
    ),
}


def nearest(question, steps):
    found = spaces[steps].nearest(question, 6)
    said = "Nearest to {question}: {first}, with a cosine of {cosine:.2f}."
    note = Note(said, question=question, first=found[0].word, cosine=found[0].cosine)
    return [Bars([one.word for one in found], {"cosine": [one.cosine for one in found]}, y_limits=(0, 1)), note]


LivePicture(
    nearest,
    Slider("question", QUESTIONS, "king - man + woman"),
    Slider("training steps", STOPS, STOPS[-1]),
    title="The nearest words",
    words={"es": SPANISH},
)
# %% [en]
# {{held}} of {{TOTAL}} such questions about people are answered right. By custom the three words of the question are left
# out of the answer; without this help {{naive}} are right in these tidy sentences. In vectors of everyday text the sum often
# stays nearest to a word that it began with, and reports of analogies seldom say so.
#
# ## Change one number
#
# - `WINDOW = 1`: only neighbours count. Which kinds stay together?
# - `SIZE = 2`: now the map is the whole truth. How many analogies hold?
# - `STOPS = [..., 2000]`: does more training make the map better?
#
# The same with a trained run: `atento train meaning --out run`, then `atento look run cat --what embeddings` and
# `atento look run --what embeddings --out map.html`. [Meaning](../../meaning.md) tells more.
# %% [es]
# Se responden bien {{held}} de {{TOTAL}} preguntas así sobre personas. Por costumbre, las tres palabras de la pregunta se
# excluyen de la respuesta; sin esa ayuda se aciertan {{naive}} en estas frases tan ordenadas. En vectores de textos
# corrientes la suma suele quedar más cerca de una palabra de la que partió, y los informes rara vez lo dicen.
#
# ## Cambie un número
#
# - `WINDOW = 1`: solo cuentan las vecinas inmediatas. ¿Qué clases siguen juntas?
# - `SIZE = 2`: ahora el mapa es toda la verdad. ¿Cuántas analogías se cumplen?
# - `STOPS = [..., 2000]`: ¿mejora el mapa con más entrenamiento?
#
# Lo mismo con un modelo entrenado: `atento train meaning --out run`, y luego `atento look run cat --what embeddings` y
# `atento look run --what embeddings --out map.html`. Más en [el significado](../../meaning.md), en inglés.
