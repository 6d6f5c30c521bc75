# %% [en]
# # Eleven scores on one sentence
#
# Attention first gives every word a score, and the formula of the score decides what can be learned: only a score that
# looks at both words through learned weights finds the word that is asked for.
#
# Every picture of attention hides a comparison. A **query** q, here the vector of one word, is compared with a **key**
# k, the vector of another, by a score a(k, q); the scores of all keys become weights that sum to 1. Researchers have
# proposed many formulas. This page puts eleven of them on the same sentence, before and after a short training.
# %% [es]
# # Once puntuaciones en una frase
#
# La atención da primero una puntuación a cada palabra, y la fórmula de esa puntuación decide qué se puede aprender:
# solo la que mira las dos palabras a través de pesos aprendidos encuentra la palabra que se busca.
#
# Detrás de cada figura de atención hay una comparación. Una **consulta** q, aquí el vector de una palabra, se compara
# con una **clave** k, el vector de otra, mediante una puntuación a(k, q); las puntuaciones de todas las claves se
# convierten en pesos que suman 1. Se han propuesto muchas fórmulas. Esta página pone once de ellas ante la misma frase,
# antes y después de un entrenamiento breve.
# %% [en]
# ## A sentence and a question
#
# Eight trades give sentences such as *today the baker bakes bread and the fisher casts nets*. In each clause the words
# ask for one another in a circle: the baker asks for what he does (*bakes*), the verb asks for what is made (*bread*),
# and the bread asks who made it (*baker*). A word is nothing but {{SIZE}} random numbers, as in an untrained embedding,
# and *today* may stand anywhere, so that the places of the other words shift.
# %% [es]
# ## Una frase y una pregunta
#
# Ocho oficios dan frases como *hoy el panadero hornea pan y el pescador lanza redes*. En cada oración las palabras se
# buscan en círculo: el panadero busca lo que hace (*hornea*), el verbo busca lo que se obtiene (*pan*), y el pan busca
# a quien lo hizo (*panadero*). Una palabra no es más que {{SIZE}} números al azar, como en una tabla de vectores sin
# entrenar, y *hoy* puede estar en cualquier lugar, de modo que los lugares de las demás palabras se desplazan.
# %%
import torch

from atento.attention import SCORES, Attention, Everything, MultiHead, Proportional, ScaledDot, Sizes, Softmax
from atento.views.live import Bars, Cells, LivePicture, Note, Slider

SIZE = 16  # change me: how many numbers make a word
STEPS = 200

torch.set_default_dtype(torch.float64)
TRADES = ["baker bakes bread", "fisher casts nets", "poet writes verses", "weaver spins wool"]
TRADES += ["farmer milks cows", "smith forges iron", "miller grinds wheat", "barber cuts hair"]
vocabulary = ["today", "the", "and", *" ".join(TRADES).split()]
torch.manual_seed(7)
vectors = dict(zip(vocabulary, torch.randn(len(vocabulary), SIZE), strict=True))


def sentence(first, second, today):
    words = f"the {TRADES[first]} and the {TRADES[second]}".split()
    return [*words[:today], "today", *words[today:]]


def questions(words):  # the place of each word that asks, and of the word it asks for
    ask = [place for place, word in enumerate(words) if word not in ("today", "the", "and")]
    return ask, [ask[at] for at in (1, 2, 0, 4, 5, 3)]


pairs = [(a, b) for a in range(8) for b in range(8) if a != b and {a, b} != {0, 1}]  # never the baker with the fisher
training = [sentence(a, b, today) for a, b in pairs for today in range(0, 10, 3)]
keys = torch.stack([torch.stack([vectors[word] for word in words]) for words in training])  # (rows, 10, SIZE)
ask, answers = (torch.tensor(places) for places in zip(*map(questions, training), strict=True))  # (rows, 6)
queries = keys.gather(1, ask.unsqueeze(-1).expand(-1, -1, SIZE))
print(len(training), "sentences to learn from, such as:", *training[-1])
# %% [en]
# ## Train each score alone
#
# Everything else stays the same: the vectors are fixed, the weights are a softmax of the scores (a kernel, φ(q) · φ(k),
# is divided by its sum instead), and {{STEPS}} steps of Adam raise the weight of the right word. Baker and fisher never
# stand together in the training sentences; the sentence on this page is new to every score.
# %% [es]
# ## Entrenar cada puntuación por separado
#
# Todo lo demás queda igual: los vectores son fijos, los pesos son una softmax de las puntuaciones (un núcleo, φ(q) ·
# φ(k), se divide en cambio por su suma) y {{STEPS}} pasos de Adam suben el peso de la palabra correcta. El panadero y
# el pescador nunca aparecen juntos en las frases de entrenamiento; la frase de esta página es nueva para todas las
# puntuaciones.
# %%
NAMES = ["dot", "scaled-dot", "cosine", "linear", "location", "feature-based"]
NAMES += ["activated-general", "general", "biased-general", "additive", "deep"]
words = sentence(0, 1, 0)  # today the baker bakes bread and the fisher casts nets
ask_here, answers_here = questions(words)
sentence_keys = torch.stack([vectors[word] for word in words]).unsqueeze(0)


def composed(name):
    torch.manual_seed(1)
    score = SCORES[name].make(Sizes(query=SIZE, key=SIZE, max_length=len(words)))
    return Attention(score, Proportional() if score.gives == "kernel" else Softmax(), Everything())


def train(attention):
    optimizer = torch.optim.Adam(attention.parameters(), lr=0.03)
    for _ in range(STEPS):
        weight = attention.weights(queries, keys).gather(-1, answers.unsqueeze(-1))  # of the right word
        optimizer.zero_grad()
        (-weight.log().mean()).backward()
        optimizer.step()
    return attention


def look(attention):  # (10, 10) weights of every word of the sentence over all words
    return attention.weights(sentence_keys, sentence_keys)[0].detach()


untrained = {name: look(composed(name)) for name in NAMES}
attentions = {name: train(composed(name)) if list(composed(name).parameters()) else composed(name) for name in NAMES}
trained = {name: look(attention) for name, attention in attentions.items()}
before = {name: weights[ask_here, answers_here].mean().item() for name, weights in untrained.items()}
after = {name: weights[ask_here, answers_here].mean().item() for name, weights in trained.items()}
hits = {name: int((w[ask_here].argmax(-1) == torch.tensor(answers_here)).sum()) for name, w in trained.items()}
for name in NAMES:
    print(f"{name:18} {SCORES[name].formula:45} right word {before[name]:.2f} -> {after[name]:.2f}  {hits[name]} of 6")
# %% [en]
# The picture shows one strip for each score; the darker a word, the more weight it gets. Move the first slider to let
# another word ask, and the second to go from untrained to trained. The frame marks the right answer.
# %% [es]
# La figura muestra una tira por puntuación; cuanto más oscura una palabra, más peso recibe. Mueva el primer deslizador
# para que pregunte otra palabra, y el segundo para pasar de sin entrenar a entrenado. El marco señala la respuesta
# correcta.
# %%
SPANISH = {
    **{"today": "hoy", "the": "el", "baker": "panadero", "bakes": "hornea", "bread": "pan", "and": "y"},
    **{"fisher": "pescador", "casts": "lanza", "nets": "redes", "before": "antes", "after": "después"},
    **{"the word that asks": "la palabra que pregunta", "training": "entrenamiento"},
    **{"dot": "producto", "scaled-dot": "producto escalado", "cosine": "coseno", "linear": "núcleo lineal"},
    **{"location": "lugar", "feature-based": "rasgos", "activated-general": "general activada", "general": "general"},
    **{"biased-general": "general con sesgo", "additive": "aditiva", "deep": "profunda"},
    "Eleven scores on one sentence": "Once puntuaciones en una frase",
    "“{word}” asks for “{answer}”: {count} of 11 scores give it the most weight.": (
        "«{word}» busca «{answer}»: {count} de 11 puntuaciones le dan el mayor peso."
    ),
}


def strips(word, when):
    asks = words.index(word)
    answer = answers_here[ask_here.index(asks)]
    shown = {name: weights[asks] for name, weights in (trained if when == "after" else untrained).items()}
    count = sum(int(weights.argmax()) == answer for weights in shown.values())
    said = "“{word}” asks for “{answer}”: {count} of 11 scores give it the most weight."
    note = Note(said, word=word, answer=words[answer], count=count)
    return [Cells(words, shown, marked=[answer], limits=(0, 1)), note]


asking = Slider("the word that asks", [words[place] for place in ask_here])
title = "Eleven scores on one sentence"
LivePicture(strips, asking, Slider("training", ["before", "after"], "after"), title=title, words={"es": SPANISH})
# %% [en]
# ## What each can say, and what it cannot
#
# | score | formula | weight of the right word, before → after | finds it |
# |---|---|---|---|
# | dot | q · k | {{before[dot]:.2f}} → {{after[dot]:.2f}} | {{hits[dot]}} of 6 |
# | scaled dot | q · k / √d | {{before[scaled-dot]:.2f}} → {{after[scaled-dot]:.2f}} | {{hits[scaled-dot]}} of 6 |
# | cosine | β cos(q, k) | {{before[cosine]:.2f}} → {{after[cosine]:.2f}} | {{hits[cosine]}} of 6 |
# | linear kernel | φ(q) · φ(k) | {{before[linear]:.2f}} → {{after[linear]:.2f}} | {{hits[linear]}} of 6 |
# | location | (W q) at the place of the key | {{before[location]:.2f}} → {{after[location]:.2f}} | {{hits[location]}} of 6 |
# | feature-based | v · tanh(W₁ k + W₂ k² + b) | {{before[feature-based]:.2f}} → {{after[feature-based]:.2f}} | {{hits[feature-based]}} of 6 |
# | activated general | tanh(q · W k + b) | {{before[activated-general]:.2f}} → {{after[activated-general]:.2f}} | {{hits[activated-general]}} of 6 |
# | general | q · W k | {{before[general]:.2f}} → {{after[general]:.2f}} | {{hits[general]}} of 6 |
# | biased general | k · (W q + b) | {{before[biased-general]:.2f}} → {{after[biased-general]:.2f}} | {{hits[biased-general]}} of 6 |
# | additive | v · tanh(W q + U k) | {{before[additive]:.2f}} → {{after[additive]:.2f}} | {{hits[additive]}} of 6 |
# | deep | a network of several layers of q and k | {{before[deep]:.2f}} → {{after[deep]:.2f}} | {{hits[deep]}} of 6 |
#
# The failures are not bad luck: each follows from the formula, and the next cell checks it.
# %% [es]
# ## Qué puede decir cada una, y qué no
#
# | puntuación | fórmula | peso de la palabra correcta, antes → después | la encuentra |
# |---|---|---|---|
# | producto | q · k | {{before[dot]:.2f}} → {{after[dot]:.2f}} | {{hits[dot]}} de 6 |
# | producto escalado | q · k / √d | {{before[scaled-dot]:.2f}} → {{after[scaled-dot]:.2f}} | {{hits[scaled-dot]}} de 6 |
# | coseno | β cos(q, k) | {{before[cosine]:.2f}} → {{after[cosine]:.2f}} | {{hits[cosine]}} de 6 |
# | núcleo lineal | φ(q) · φ(k) | {{before[linear]:.2f}} → {{after[linear]:.2f}} | {{hits[linear]}} de 6 |
# | lugar | (W q) en el lugar de la clave | {{before[location]:.2f}} → {{after[location]:.2f}} | {{hits[location]}} de 6 |
# | rasgos | v · tanh(W₁ k + W₂ k² + b) | {{before[feature-based]:.2f}} → {{after[feature-based]:.2f}} | {{hits[feature-based]}} de 6 |
# | general activada | tanh(q · W k + b) | {{before[activated-general]:.2f}} → {{after[activated-general]:.2f}} | {{hits[activated-general]}} de 6 |
# | general | q · W k | {{before[general]:.2f}} → {{after[general]:.2f}} | {{hits[general]}} de 6 |
# | general con sesgo | k · (W q + b) | {{before[biased-general]:.2f}} → {{after[biased-general]:.2f}} | {{hits[biased-general]}} de 6 |
# | aditiva | v · tanh(W q + U k) | {{before[additive]:.2f}} → {{after[additive]:.2f}} | {{hits[additive]}} de 6 |
# | profunda | una red de varias capas de q y k | {{before[deep]:.2f}} → {{after[deep]:.2f}} | {{hits[deep]}} de 6 |
#
# Los fallos no son mala suerte: cada uno se sigue de la fórmula, y la celda siguiente lo comprueba.
# %%
scores = {name: attentions[name].score(sentence_keys, sentence_keys)[0].detach() for name in NAMES}
itself = trained["dot"].diagonal()[ask_here].mean().item()  # weight of the word that asks
one_sided = {name: (scores[name] - scores[name].T).abs().max().item() for name in ("dot", "cosine", "general")}
turned = look(attentions["location"]) - attentions["location"].weights(sentence_keys, sentence_keys.flip(1))[0]
by_content = turned.abs().max().item()  # what changes when all keys change places
by_query = (trained["feature-based"] - trained["feature-based"][0]).abs().max().item()  # and when another word asks
count, others, vocabulary_size = len(words), len(words) - 1, len(vocabulary)
ceiling = torch.tensor([1.0] + [-1.0] * others).softmax(0)[0].item()  # scores of a tanh lie in [-1, 1]
highest = trained["activated-general"].max().item()
print(f"dot: weight of the word itself {itself:.2f}; a(x, y) - a(y, x): {one_sided['dot']:.2f}")
print(
    f"location: change when the keys are reversed {by_content:.2f}; feature-based: when the query changes {by_query:.2f}"
)
print(f"activated general: largest weight {highest:.2f}, and no tanh can give more than {ceiling:.2f}")
# %% [en]
# - **Dot, scaled dot and cosine have no weights to learn** (cosine only its sharpness β). A vector is most like itself:
#   the word that asks keeps {{itself:.2f}} of the weight of the dot product. They are also symmetric: a(x, y) and
#   a(y, x) differ by {{one_sided[dot]:.2f}}, so they cannot say that the verb answers the baker and the baker does not
#   answer the verb. The general score can; there the two directions differ by up to {{one_sided[general]:.1f}}.
# - **Location** does not look at the key. When all keys change places its weights change by {{by_content:.2f}}: it
#   learns where answers usually stand.
# - **Feature-based** does not look at the query. Whichever word asks, its weights change by {{by_query:.2f}}: it learns
#   which words are worth looking at, and that is all.
# - **Activated general** ends in a tanh, so scores lie between −1 and 1, and among {{count}} words no weight can exceed
#   e / (e + {{others}} / e) = {{ceiling:.2f}}. Its largest weight is {{highest:.2f}}.
# - **General, biased general, additive and deep** have a learned map between query and key, and solve the task. The two
#   networks cost more: a tanh for every pair of words.
# - **The linear kernel** has no weights here either, and its flat features spread the weight over the whole sentence.
#   What it buys is time: the cost grows with the number of words, not with its square.
#
# ## Why Transformers still use the dot product
#
# They put learned maps *before* it. With W_Q q and W_K k the product is q · (W_Qᵀ W_K) k, which is the general score. A
# layer of `MultiHead` with one head shows that both are the same number, up to rounding:
# %% [es]
# - **Producto, producto escalado y coseno no tienen pesos que aprender** (el coseno, solo su nitidez β). Un vector se
#   parece sobre todo a sí mismo: la palabra que pregunta se queda con {{itself:.2f}} del peso del producto. Además son
#   simétricas: a(x, y) y a(y, x) difieren en {{one_sided[dot]:.2f}}, y no pueden decir que el verbo responde al panadero
#   y el panadero no responde al verbo. La puntuación general sí; en ella las dos direcciones difieren hasta en
#   {{one_sided[general]:.1f}}.
# - **Lugar** no mira la clave. Cuando todas las claves cambian de sitio, sus pesos cambian en {{by_content:.2f}}:
#   aprende dónde suelen estar las respuestas.
# - **Rasgos** no mira la consulta. Pregunte quien pregunte, sus pesos cambian en {{by_query:.2f}}: aprende qué palabras
#   merece la pena mirar, y nada más.
# - **General activada** termina en una tanh: las puntuaciones quedan entre −1 y 1, y entre {{count}} palabras ningún
#   peso puede pasar de e / (e + {{others}} / e) = {{ceiling:.2f}}. Su mayor peso es {{highest:.2f}}.
# - **General, general con sesgo, aditiva y profunda** tienen un mapa aprendido entre consulta y clave, y resuelven la
#   tarea. Las dos redes cuestan más: una tanh por cada par de palabras.
# - **El núcleo lineal** tampoco tiene pesos aquí, y sus rasgos planos reparten el peso por toda la frase. Lo que da a
#   cambio es tiempo: el coste crece con el número de palabras, no con su cuadrado.
#
# ## Por qué los Transformers siguen usando el producto
#
# Porque ponen mapas aprendidos *delante*. Con W_Q q y W_K k el producto es q · (W_Qᵀ W_K) k, que es la puntuación
# general. Una capa `MultiHead` de una sola cabeza muestra que ambas son el mismo número, salvo redondeo:
# %%
layer = MultiHead(SIZE, 1, Attention(ScaledDot(), Softmax(), Everything()))
general = composed("general")
general.score.weight.weight.data = layer.to_query.weight.T @ layer.to_key.weight / SIZE**0.5
gap = (layer.weights(sentence_keys, sentence_keys)[0, 0] - look(general)).abs().max().item()
print(f"largest difference of the weights: {gap:.9f}")
# %% [en]
# ## Why it is divided by √d
#
# The products of random vectors of d numbers spread as √d. Without the division wide vectors give scores so far apart
# that the softmax takes one key and ignores the rest, and its gradient disappears. Ten random keys, seen with wider and
# wider vectors:
# %% [es]
# ## Por qué se divide por √d
#
# Los productos de vectores aleatorios de d números se dispersan como √d. Sin la división, los vectores anchos dan
# puntuaciones tan distantes que la softmax toma una sola clave e ignora el resto, y su gradiente desaparece. Diez
# claves aleatorias, vistas con vectores cada vez más anchos:
# %%
WIDTHS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
torch.manual_seed(3)
long_query, long_keys = torch.randn(1, 1024), torch.randn(10, 1024)
spread = {d: (torch.randn(2000, d) * torch.randn(2000, d)).sum(-1).std().item() for d in WIDTHS}


def wide(d):
    weights = {}
    for name in ("dot", "scaled-dot", "cosine"):
        weights[name] = composed(name).weights(long_query[:, :d], long_keys[:, :d])[0].detach()
    said = "Vectors of {d} numbers: products spread by {spread:.1f}, after the division by {scaled:.1f}."
    chart = Bars([str(key) for key in range(1, 11)], weights, up="weight of each key", y_limits=(0, 1))
    return [chart, Note(said, d=d, spread=spread[d], scaled=spread[d] / d**0.5)]


WIDE = {
    "Vectors of {d} numbers: products spread by {spread:.1f}, after the division by {scaled:.1f}.": (
        "Vectores de {d} números: los productos se dispersan {spread:.1f}, tras la división {scaled:.1f}."
    ),
    **{"weight of each key": "peso de cada clave", "width of the vectors": "anchura de los vectores"},
    "Ten random keys, wider and wider": "Diez claves aleatorias, cada vez más anchas",
}
title = "Ten random keys, wider and wider"
LivePicture(wide, Slider("width of the vectors", WIDTHS, 64), title=title, words={"es": SPANISH | WIDE})
# %% [en]
# ## Change one number
#
# - `SIZE = 4`: with so few numbers per word the {{vocabulary_size}} words crowd together. Which scores still find the
#   answer?
# - `STEPS = 20`: who learns first, the bilinear scores or the networks?
# - Swap the sentence for `sentence(2, 5, 4)`: the poet and the smith, with *today* in the middle.
#
# All scores with formula and paper: `atento parts`, and [attention as an algebra](../../attention.md). In a model the
# name chooses: `lstm+additive`, `transformer+general`.
# %% [es]
# ## Cambie un número
#
# - `SIZE = 4`: con tan pocos números por palabra, las {{vocabulary_size}} palabras se amontonan. ¿Qué puntuaciones
#   siguen encontrando la respuesta?
# - `STEPS = 20`: ¿quién aprende antes, las puntuaciones bilineales o las redes?
# - Cambie la frase por `sentence(2, 5, 4)`: el poeta y el herrero, con *hoy* en medio.
#
# Todas las puntuaciones con fórmula y artículo: `atento parts`, y [la atención como álgebra](../../attention.md). En un
# modelo las elige el nombre: `lstm+additive`, `transformer+general`.
