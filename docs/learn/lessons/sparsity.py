# %% [en]
# # What sparsity does
#
# A softmax never lets go of a key; sparsemax and entmax give most keys a weight of exactly zero, and what is left can
# be read, and stays right when the sequence grows.
#
# Attention has scores, and needs weights. The usual road is the softmax, exp(s_i) / Σ exp(s_j), which is positive
# everywhere. It is not the only one: this page puts six distributions on the same scores.
# %% [es]
# # Qué hace la dispersión
#
# Una softmax nunca suelta una clave; sparsemax y entmax dan a la mayoría un peso exactamente nulo, y lo que queda se
# puede leer y sigue siendo correcto cuando la secuencia crece.
#
# La atención tiene puntuaciones y necesita pesos. El camino habitual es la softmax, exp(s_i) / Σ exp(s_j), que es
# positiva en todas partes. No es el único: esta página pone seis distribuciones sobre las mismas puntuaciones.
# %% [en]
# ## The same scores, six distributions
#
# In *my sister reads a long letter at home* the word *reads* looks for who reads and for what is read. The scores below
# are set by hand, so that you can change them. `scale` multiplies them all: it is one over the temperature, and a model
# that learns longer queries and keys raises it by itself.
# %% [es]
# ## Las mismas puntuaciones, seis distribuciones
#
# En *mi hermana lee una larga carta en casa* la palabra *lee* busca quién lee y qué se lee. Las puntuaciones de abajo
# están puestas a mano, para que usted pueda cambiarlas. `scale` las multiplica todas: es uno partido por la
# temperatura, y un modelo que aprende consultas y claves más largas la sube por sí mismo.
# %%
import torch

from atento.attention import Attention, Entmax, Everything, General, Hard, Sigmoid, Softmax, Sparsemax
from atento.views.live import Bars, Cells, HeatMap, Lines, LivePicture, Note, Plane, Slider

SCORES = {
    "my": -0.5,
    "sister": 2.0,
    "reads": 0.4,
    "a": -1.0,
    "long": 0.2,
    "letter": 1.6,
    "at": -1.5,
    "home": 0.9,
}  # change me
SCALES = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]

torch.set_default_dtype(torch.float64)
words, scores = list(SCORES), torch.tensor(list(SCORES.values()))
seen = torch.tensor(True)  # every key is visible
distributions = {
    "softmax": Softmax(),
    "entmax 1.25": Entmax(1.25),
    "entmax 1.5": Entmax(1.5),
    "sparsemax": Sparsemax(),
    "hard": Hard().eval(),  # takes the best key; in training it draws one
    "sigmoid": Sigmoid(),
}
weights = {scale: {name: one(scale * scores, seen) for name, one in distributions.items()} for scale in SCALES}
kept = {name: [int((weights[scale][name] > 0).sum()) for scale in SCALES] for name in distributions}
for name, row in weights[1.0].items():
    print(f"{name:12}", *(f"{weight:.3f}" for weight in row.tolist()), f" sum {row.sum():.2f}")
# %%
SPANISH = {
    **{"my": "mi", "sister": "hermana", "reads": "lee", "a": "una", "long": "larga", "letter": "carta", "at": "en"},
    **{"home": "casa", "hard": "dura", "sigmoid": "sigmoide", "scale": "escala"},
    **{"entmax 1.25": "entmax 1,25", "entmax 1.5": "entmax 1,5"},
    **{"scale of the scores": "escala de las puntuaciones", "keys with weight": "claves con peso"},
    "Words that lose all weight disappear": "Las palabras que pierden todo el peso desaparecen",
    "At scale {scale:g} sparsemax keeps {sparse} of 8 words, entmax 1.5 {entmax}, softmax {soft}.": (
        "Con escala {scale:g}, sparsemax conserva {sparse} de 8 palabras, entmax 1,5 {entmax} y softmax {soft}."
    ),
}


def strips(scale):
    rows = weights[scale]
    shown = {name: [word if w > 0 else "" for word, w in zip(words, row, strict=True)] for name, row in rows.items()}
    said = "At scale {scale:g} sparsemax keeps {sparse} of 8 words, entmax 1.5 {entmax}, softmax {soft}."
    at = SCALES.index(scale)
    numbers = {"sparse": kept["sparsemax"][at], "entmax": kept["entmax 1.5"][at], "soft": kept["softmax"][at]}
    return [Cells(shown, rows, limits=(0, 1)), Note(said, scale=scale, **numbers)]


title = "Words that lose all weight disappear"
LivePicture(strips, Slider("scale of the scores", SCALES, 1.0), title=title, words={"es": SPANISH})
# %% [en]
# At scale 1 sparsemax keeps {{sparse_kept}} of 8 words with weights {{sister:.2f}} for *sister* and {{letter:.2f}} for
# *letter*; the softmax keeps all 8, and gives {{crowd:.2f}} of its weight to the six words that nobody asked for. A
# larger scale makes the softmax sharper, yet its weights are never 0. The sigmoid judges each key alone: its weights
# sum to {{sigmoid_sum:.2f}}, not to 1. Hard attention takes one key, even where two are right.
#
# ## The way to the corner
#
# The weights of three keys that sum to 1 are a point of a triangle, the **simplex**; its corners give all weight to one
# key. As the scale grows every distribution walks from the middle to the corner of the best key. Softmax stays inside
# for ever. Sparsemax is the point of the triangle nearest to the scores: it hits the edge, where the worst key is at
# zero, and then follows it. On the right, the same with two keys: the weight of the better one against the difference
# of the scores.
# %% [es]
# Con escala 1 sparsemax conserva {{sparse_kept}} de 8 palabras, con pesos {{sister:.2f}} para *hermana* y
# {{letter:.2f}} para *carta*; la softmax conserva las 8, y da {{crowd:.2f}} de su peso a las seis palabras por las que
# nadie preguntó. Una escala mayor hace la softmax más aguda, pero sus pesos nunca son 0. La sigmoide juzga cada clave
# por separado: sus pesos suman {{sigmoid_sum:.2f}}, no 1. La atención dura toma una sola clave, aunque haya dos
# correctas.
#
# ## El camino hacia el vértice
#
# Los pesos de tres claves que suman 1 son un punto de un triángulo, el **símplex**; sus vértices dan todo el peso a una
# clave. Cuando la escala crece, cada distribución camina desde el centro hasta el vértice de la mejor clave. La softmax
# se queda siempre dentro. Sparsemax es el punto del triángulo más cercano a las puntuaciones: choca con el lado donde
# la peor clave vale cero, y luego lo sigue. A la derecha, lo mismo con dos claves: el peso de la mejor frente a la
# diferencia de las puntuaciones.
# %%
sparse_kept, sigmoid_sum = kept["sparsemax"][SCALES.index(1.0)], weights[1.0]["sigmoid"].sum().item()
sister, letter = (weights[1.0]["sparsemax"][words.index(word)].item() for word in ("sister", "letter"))
crowd = 1 - sum(weights[1.0]["softmax"][words.index(word)].item() for word in ("sister", "letter"))

THREE = torch.tensor([1.0, 0.7, 0.0])  # change me: the scores of three keys
corners = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])
walkers = {name: distributions[name] for name in ("softmax", "entmax 1.5", "sparsemax")}
steps = torch.linspace(0, 8, 161)
walks = {name: torch.stack([one(scale * THREE, seen) for scale in steps]) @ corners for name, one in walkers.items()}
apart = torch.linspace(-4, 4, 81)  # the difference of two scores
curves = {name: one(torch.stack([apart, 0 * apart], -1), seen)[:, 0] for name, one in walkers.items()}
edge = steps[(torch.stack([Sparsemax()(scale * THREE, seen) for scale in steps])[:, 2] == 0).nonzero()[0, 0]].item()


def triangle(scale):
    until = int((steps <= scale).sum())
    paths = {name: walk[:until] for name, walk in walks.items()} | {"simplex": corners[[0, 1, 2, 0]]}
    room = {"equal": True, "x_limits": (-0.1, 1.1), "y_limits": (-0.1, 0.95)}
    view = Plane(paths=paths, labels={"simplex": ["1", "2", "3"]}, title="three keys", **room)
    weight = Lines(curves, x=apart, cursor=scale * (THREE[0] - THREE[1]).item(), title="two keys", **NAMED)
    return [view, weight]


NAMED = {"across": "difference of the scores", "up": "weight of the better key"}
WALK = {
    **{"three keys": "tres claves", "two keys": "dos claves", "simplex": "símplex"},
    **{
        "difference of the scores": "diferencia de las puntuaciones",
        "weight of the better key": "peso de la mejor clave",
    },
    "From the middle to the corner": "Del centro al vértice",
}
far = [round(0.25 * step, 2) for step in range(33)]
title = "From the middle to the corner"
LivePicture(triangle, Slider("scale of the scores", far, 2.0), title=title, words={"es": SPANISH | WALK})


# %% [en]
# Sparsemax reaches the edge at a scale of {{edge:.2f}}, and two keys are already decided where their scores differ by
# 1.
#
# ## No weight, no gradient
#
# Outside of the **support**, the keys with weight, sparsemax is flat: a little more score changes nothing. The bars
# show the derivative of the weight of *sister* by the score of every word. It is a promise and a price: a word that is
# out has no influence, not even a small one, and it has no gradient that could bring it back.
# %% [es]
# Sparsemax llega al lado con una escala de {{edge:.2f}}, y dos claves ya están decididas cuando sus puntuaciones
# difieren en 1.
#
# ## Sin peso no hay gradiente
#
# Fuera del **soporte**, las claves con peso, sparsemax es plana: un poco más de puntuación no cambia nada. Las barras
# muestran la derivada del peso de *hermana* respecto a la puntuación de cada palabra. Es una promesa y un precio: una
# palabra que está fuera no tiene ninguna influencia, ni pequeña, y tampoco un gradiente que pueda devolverla.
# %%
def derivative(name, scale):  # of the weight of "sister" by each score
    given = (scale * scores).requires_grad_()
    distributions[name](given, seen)[words.index("sister")].backward()
    return given.grad


def slopes(scale):
    rows = {name: derivative(name, scale) for name in walkers}
    flat = {name: int((row == 0).sum()) for name, row in rows.items()}
    said = "Words without influence: sparsemax {sparsemax}, entmax 1.5 {entmax}, softmax {softmax}."
    note = Note(said, sparsemax=flat["sparsemax"], entmax=flat["entmax 1.5"], softmax=flat["softmax"])
    return [Bars(words, rows, up="derivative of the weight of “sister”"), note]


FLAT = {
    "derivative of the weight of “sister”": "derivada del peso de «hermana»",
    "The gradient stops at the edge of the support": "El gradiente se acaba en el borde del soporte",
    "Words without influence: sparsemax {sparsemax}, entmax 1.5 {entmax}, softmax {softmax}.": (
        "Palabras sin influencia: sparsemax {sparsemax}, entmax 1,5 {entmax}, softmax {softmax}."
    ),
}
title = "The gradient stops at the edge of the support"
LivePicture(slopes, Slider("scale of the scores", SCALES[:-2], 1.0), title=title, words={"es": SPANISH | FLAT})
# %% [en]
# ## A task where it helps
#
# Each key has one of six colours (with some noise) and holds a number. The query names a colour, and the answer is the
# mean of the numbers of the **two** keys of that colour. Every distribution learns a `General` score with {{KEYS}}
# keys. Then the same models get more keys: still two of the right colour, and ever more of the others.
# %% [es]
# ## Una tarea en la que ayuda
#
# Cada clave tiene uno de seis colores (con algo de ruido) y guarda un número. La consulta nombra un color, y la
# respuesta es la media de los números de las **dos** claves de ese color. Cada distribución aprende una puntuación
# `General` con {{KEYS}} claves. Después los mismos modelos reciben más claves: siguen siendo dos las del color
# correcto, y cada vez más las demás.
# %%
KEYS, NOISE = 8, 0.15  # change me: keys in training, and how much colours vary
LENGTHS = [4, 8, 16, 32, 64, 128, 256]


def draw(rows, keys, seed):  # the two keys of the right colour stand first; no score here knows places
    torch.manual_seed(seed)
    asked = torch.randint(6, (rows, 1))
    colour = (asked + torch.randint(1, 6, (rows, keys))) % 6
    colour[:, :2] = asked
    names = torch.eye(6)
    value = torch.randn(rows, keys, 1)
    return names[asked], names[colour] + NOISE * torch.randn(rows, keys, 6), value, value[:, :2].mean(1)


def trained(distribution):
    torch.manual_seed(0)
    attention = Attention(General(6, 6), distribution, Everything())
    optimizer = torch.optim.Adam(attention.parameters(), lr=0.05)
    for step in range(300):
        query, key, value, answer = draw(64, KEYS, seed=step)
        optimizer.zero_grad()
        (attention(query, key, value)[:, 0] - answer).square().mean().backward()
        optimizer.step()
    return attention.eval()


learners = {name: distributions[name] for name in ("softmax", "entmax 1.5", "sparsemax", "sigmoid")} | {"hard": Hard()}
models = {name: trained(distribution) for name, distribution in learners.items()}
errors, support = {name: [] for name in models}, {name: [] for name in models}
for name, attention in models.items():
    for length in LENGTHS:
        query, key, value, answer = draw(500, length, seed=1000)
        found = attention.weights(query, key).detach()
        errors[name].append((found @ value)[:, 0].sub(answer).square().mean().sqrt().item())
        support[name].append((found > 0).sum(-1).double().mean().item())
    print(
        f"{name:12} error with 8 keys {errors[name][1]:.2f}, with 256 {errors[name][-1]:.2f}, {support[name][-1]:.1f} in use"
    )


# %%
def longer(length):
    query, key, *_ = draw(500, length, seed=1000)
    rows = torch.cat([attention.weights(query, key)[0].detach() for attention in models.values()])[:, :32]
    table = HeatMap(rows, rows=list(models), across="the first 32 keys; the right ones are 1 and 2", limits=(0, 0.5))
    chart = Lines(errors, x=LENGTHS, log_x=True, log_y=True, cursor=length, dots=True, across="keys", up="error")
    said = "With {length} keys softmax errs by {soft:.2f}, sparsemax by {sparse:.2f}, with {support:.1f} keys in use."
    at = LENGTHS.index(length)
    numbers = {"soft": errors["softmax"][at], "sparse": errors["sparsemax"][at], "support": support["sparsemax"][at]}
    return [table, chart, Note(said, length=length, **numbers)]


LONGER = {
    "the first 32 keys; the right ones are 1 and 2": "las primeras 32 claves; las correctas son 1 y 2",
    **{"keys": "claves", "error": "error"},
    "Learned with 8 keys, used with more": "Aprendido con 8 claves, usado con más",
    "With {length} keys softmax errs by {soft:.2f}, sparsemax by {sparse:.2f}, with {support:.1f} keys in use.": (
        "Con {length} claves softmax yerra en {soft:.2f} y sparsemax en {sparse:.2f}, con {support:.1f} claves en uso."
    ),
}
title = "Learned with 8 keys, used with more"
LivePicture(longer, Slider("keys", LENGTHS, 64), title=title, words={"es": SPANISH | LONGER})
# %% [en]
# With the {{KEYS}} keys of the training the errors are {{errors[softmax][1]:.2f}} for softmax and
# {{errors[sparsemax][1]:.2f}} for sparsemax. With 256 keys they are {{errors[softmax][6]:.2f}} and
# {{errors[sparsemax][6]:.2f}}: a little weight on each of 254 wrong keys is much weight, and a zero stays a zero.
# Sparsemax then uses {{support[sparsemax][6]:.1f}} keys out of 256, and a person can check them; softmax uses all. Hard
# attention errs by {{errors[hard][1]:.2f}} and {{errors[hard][6]:.2f}}: one key is not the mean of two. The sigmoid has
# no sum to share, and its wrong keys add up.
#
# Zeros are not always better. While a model still guesses, a zero takes the gradient away from a key that may be right,
# and softmax runs on the fastest kernels. Entmax 1.5 stands between: zeros, yet a smooth start.
#
# ## Change one number
#
# - `SCORES["home"] = 1.9`: from which score on does sparsemax keep three words?
# - `KEYS = 64`: train with long sequences. How much of the advantage is left?
# - `NOISE = 0.4`: when colours blur, which distribution suffers first?
#
# All distributions: [attention as an algebra](../../attention.md#distributions). In a model the name chooses:
# `lstm+general+sparsemax`, `transformer+entmax15`.
# %% [es]
# Con las {{KEYS}} claves del entrenamiento los errores son {{errors[softmax][1]:.2f}} con softmax y
# {{errors[sparsemax][1]:.2f}} con sparsemax. Con 256 claves son {{errors[softmax][6]:.2f}} y
# {{errors[sparsemax][6]:.2f}}: un poco de peso en cada una de 254 claves equivocadas es mucho peso, y un cero sigue
# siendo un cero. Sparsemax usa entonces {{support[sparsemax][6]:.1f}} claves de 256, y una persona puede revisarlas;
# softmax las usa todas. La atención dura yerra en {{errors[hard][1]:.2f}} y {{errors[hard][6]:.2f}}: una clave no es la
# media de dos. La sigmoide no tiene una suma que repartir, y sus claves equivocadas se acumulan.
#
# Los ceros no siempre son mejores. Mientras un modelo todavía adivina, un cero quita el gradiente a una clave que puede
# ser la correcta, y la softmax dispone de los cálculos más rápidos. Entmax 1,5 está en medio: ceros, pero un comienzo
# suave.
#
# ## Cambie un número
#
# - `SCORES["home"] = 1.9`: ¿a partir de qué puntuación conserva sparsemax tres palabras?
# - `KEYS = 64`: entrene con secuencias largas. ¿Cuánta ventaja queda?
# - `NOISE = 0.4`: cuando los colores se confunden, ¿qué distribución sufre primero?
#
# Todas las distribuciones: [la atención como álgebra](../../attention.md#distributions). En un modelo las elige el
# nombre: `lstm+general+sparsemax`, `transformer+entmax15`.
