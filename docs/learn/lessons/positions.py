# %% [en]
# # Why positions
#
# Attention sees a bag of words: without positions *dog bites man* and *man bites dog* are the same to a Transformer,
# and a question about order is answered right exactly half of the time.
#
# A recurrent network reads one word after another, so order comes for free. Attention compares all words at once, and a
# sum does not know the order of its terms. This page shows the gap as a number, then fills it in six ways.
# %% [es]
# # Por qué posiciones
#
# La atención ve una bolsa de palabras: sin posiciones, *perro muerde hombre* y *hombre muerde perro* son lo mismo para
# un Transformer, y una pregunta sobre el orden se acierta exactamente la mitad de las veces.
#
# Una red recurrente lee una palabra tras otra, y el orden le sale gratis. La atención compara todas las palabras a la
# vez, y una suma no sabe en qué orden están sus términos. Esta página muestra esa carencia con un número, y luego la
# remedia de seis maneras.
# %% [en]
# ## Change the order, and nothing changes
#
# Two layers of a Transformer with random weights read the three words in all six orders. The bars are the vector that
# comes out at *dog*. Left, without positions; right, with sinusoidal positions added to the same embeddings.
# %% [es]
# ## Cambia el orden, y no cambia nada
#
# Dos capas de un Transformer con pesos aleatorios leen las tres palabras en los seis órdenes. Las barras son el vector
# que sale en *perro*. A la izquierda, sin posiciones; a la derecha, con posiciones sinusoidales sumadas a los mismos
# vectores.
# %%
from itertools import permutations

import torch
from torch import nn

from atento.attention import Alibi, Attention, Causal, Everything, MultiHead, RelativeBias, ScaledDot, Softmax
from atento.blocks import TransformerEncoderLayer, TransformerStack
from atento.layers import FeedForward, LearnedPositions, NoPositions, PositionedEmbedding, Rotary, SinusoidalPositions
from atento.views.live import Bars, Cells, HeatMap, Lines, LivePicture, Note, Plane, Slider

SIZE, HEADS = 16, 2

torch.set_default_dtype(torch.float64)


def transformer(positions, layers, extent=Everything, rotary=False):
    torch.manual_seed(0)
    stack = []
    for _ in range(layers):
        attention = Attention(ScaledDot(), Softmax(), extent())
        heads = MultiHead(SIZE, HEADS, attention, rotary=Rotary(SIZE // HEADS) if rotary else None)
        stack.append(TransformerEncoderLayer(heads, FeedForward(SIZE, 32)))
    return PositionedEmbedding(8, positions), TransformerStack(stack)


def read(model, tokens):  # (rows, length) -> (rows, length, SIZE)
    embedding, stack = model
    return stack(embedding(tokens, torch.arange(tokens.size(1))))


WORDS = ["dog", "bites", "man"]
orders = [" ".join(order) for order in permutations(WORDS)]
outputs = {}
for name, positions in {"without positions": NoPositions(SIZE), "with positions": SinusoidalPositions(SIZE)}.items():
    model = transformer(positions, layers=2)
    for order in orders:
        tokens = torch.tensor([[1 + WORDS.index(word) for word in order.split()]])
        outputs[name, order] = read(model, tokens)[0, order.split().index("dog")].detach()

gaps = {
    name: max((outputs[name, order] - outputs[name, orders[0]]).abs().max().item() for order in orders)
    for name in ("without positions", "with positions")
}
print({name: f"{gap:.12f}" for name, gap in gaps.items()})
# %%
SPANISH = {
    **{"without positions": "sin posiciones", "with positions": "con posiciones", "order": "orden"},
    "dog bites man": "perro muerde hombre",
    "dog man bites": "perro hombre muerde",
    "bites dog man": "muerde perro hombre",
    "bites man dog": "muerde hombre perro",
    "man dog bites": "hombre perro muerde",
    "man bites dog": "hombre muerde perro",
    "first 8 features of “dog”": "primeros 8 rasgos de «perro»",
    "this order": "este orden",
    "The vector of “dog” in six orders": "El vector de «perro» en seis órdenes",
    "“{order}” against “dog bites man”: changed by {without:.6f} without positions, by {with_them:.2f} with them.": (
        "«{order}» frente a «perro muerde hombre»: cambia {without:.6f} sin posiciones, {with_them:.2f} con ellas."
    ),
}


def vectors(order):
    panels = []
    for name in gaps:
        shown = {"dog bites man": outputs[name, orders[0]][:8], "this order": outputs[name, order][:8]}
        panels.append(
            Bars(
                [str(at + 1) for at in range(8)],
                shown,
                title=name,
                up="first 8 features of “dog”",
                y_limits=(-2.5, 2.5),
            )
        )
    changes = [(outputs[name, order] - outputs[name, orders[0]]).abs().max() for name in gaps]
    said = (
        "“{order}” against “dog bites man”: changed by {without:.6f} without positions, by {with_them:.2f} with them."
    )
    return [*panels, Note(said, order=order, without=changes[0], with_them=changes[1])]


title = "The vector of “dog” in six orders"
LivePicture(vectors, Slider("order", orders, "man bites dog"), title=title, words={"es": SPANISH})
# %% [en]
# Whatever the order, the left side does not move: the largest difference is {{gaps[without positions]:.12f}}, zero to
# all twelve digits (what is left below is rounding). With positions it is {{gaps[with positions]:.2f}}. A layer that
# permutes its outputs as its inputs are permuted, and does nothing else, is called **permutation equivariant**.
#
# ## A clock for every position
#
# The first Transformer added a vector of sines and cosines to each word. Each pair (sin, cos) is the tip of a **clock
# hand**: the first turns once in 2π ≈ 6.3 words, the next ones ever more slowly, as the hands for seconds, minutes and
# hours do. All hands together name the position. The picture lays the clocks of two positions over each other: every
# hand stands there twice, with a dot on the later one. Move the distance, and the angles open. Move the position, and
# both clocks turn; the angles stay, and so does the product of the two vectors, on the right.
# %% [es]
# Sea cual sea el orden, el lado izquierdo no se mueve: la mayor diferencia es {{gaps[without positions]:.12f}}, cero en
# las doce cifras (lo que queda por debajo es redondeo). Con posiciones es {{gaps[with positions]:.2f}}. De una capa que
# permuta sus salidas como se permutan sus entradas, y nada más, se dice que es **equivariante bajo permutaciones**.
#
# ## Un reloj para cada posición
#
# El primer Transformer sumó a cada palabra un vector de senos y cosenos. Cada par (sen, cos) es la punta de una **aguja
# de reloj**: la primera da una vuelta cada 2π ≈ 6,3 palabras, y las siguientes van cada vez más despacio, como las
# agujas de los segundos, los minutos y las horas. Todas juntas nombran la posición. La figura superpone los relojes de
# dos posiciones: cada aguja aparece dos veces, con un punto en la posterior. Mueva la distancia, y los ángulos se
# abren. Mueva la posición, y giran los dos relojes; los ángulos quedan igual, y también el producto de los dos
# vectores, a la derecha.
# %%
CLOCK = SinusoidalPositions(8)  # change me: 8 features are 4 hands
PLACES, DISTANCES = [0, 1, 2, 3, 5, 8, 13, 21, 34], list(range(0, 41, 2))
hands = CLOCK(torch.arange(100))  # (100, 8)
products = {place: hands[place : place + 41] @ hands[place] for place in PLACES}
uneven = max((products[place] - products[0]).abs().max().item() for place in PLACES)


def clocks(place, distance):
    near, far = hands[place].view(-1, 2), hands[place + distance].view(-1, 2)  # sin, cos: clockwise from twelve o'clock
    angles = {}
    for at, size in enumerate(torch.linspace(1, 0.4, len(near))):  # from one tip to the middle, and to the other tip
        angles[f"hand {at + 1}"] = size * torch.stack([near[at], 0 * near[at], far[at]])
    face = Plane(paths=angles, equal=True, title="both clocks", x_limits=(-1.1, 1.1), y_limits=(-1.1, 1.1))
    curve = Lines({"": products[place]}, x=range(41), cursor=distance, across="distance", up="product")
    said = "Positions {place} and {other}: product {product:.2f}, as for any two positions {distance} apart."
    numbers = {"place": place, "other": place + distance, "distance": distance, "product": products[place][distance]}
    return [face, curve, Note(said, **numbers)]


TIME = {
    **{f"hand {at}": f"aguja {at}" for at in range(1, 9)},
    **{"both clocks": "los dos relojes", "position": "posición", "distance": "distancia"},
    **{"product": "producto", "Positions as clocks": "Las posiciones como relojes"},
    "Positions {place} and {other}: product {product:.2f}, as for any two positions {distance} apart.": (
        "Posiciones {place} y {other}: producto {product:.2f}, como para dos posiciones cualesquiera a distancia {distance}."
    ),
}
sliders = Slider("position", PLACES, 5), Slider("distance", DISTANCES, 4)
LivePicture(clocks, *sliders, title="Positions as clocks", words={"es": TIME})
# %% [en]
# Over all these positions the products differ by {{uneven:.6f}}: they depend on the distance alone.
#
# ## Five more ways
#
# - **Learned**: a free vector for each position, found by training. No place beyond the longest sequence has one.
# - **Rotary**: nothing is added; queries and keys are turned like the hands, so that their product depends on the
#   distance.
# - **Relative bias**: a learned number for each offset is added to the score.
# - **ALiBi**: a fixed penalty −m |distance| is added to the score.
# - **Causal**: each word sees only the words before it. That is no encoding at all, and yet the first word sees one
#   word and the last sees all.
#
# ## A question of order
#
# Which comes first, A or B? Among {{LENGTH}} letters stand one A and one B; the test holds every sequence together with
# itself read backwards, which has the opposite answer. One layer of a Transformer learns it for {{STEPS}} steps in each
# of eight ways, and is then asked with shorter and longer sequences.
# %% [es]
# En todas estas posiciones los productos difieren en {{uneven:.6f}}: dependen solo de la distancia.
#
# ## Cinco maneras más
#
# - **Aprendidas**: un vector libre por posición, hallado al entrenar. Más allá de la secuencia más larga no hay
#   ninguno.
# - **Rotatorias**: no se suma nada; consultas y claves giran como las agujas, y su producto depende de la distancia.
# - **Sesgo relativo**: a la puntuación se le suma un número aprendido para cada desplazamiento.
# - **ALiBi**: a la puntuación se le suma una penalización fija −m |distancia|.
# - **Causal**: cada palabra ve solo las anteriores. No es una codificación, y sin embargo la primera palabra ve una y
#   la última las ve todas.
#
# ## Una pregunta sobre el orden
#
# ¿Qué viene antes, A o B? Entre {{LENGTH}} letras hay una A y una B; la prueba contiene cada secuencia junto con la
# misma leída al revés, que tiene la respuesta contraria. Una capa de un Transformer lo aprende durante {{STEPS}} pasos
# de ocho maneras, y después se le pregunta con secuencias más cortas y más largas.
# %%
LENGTH, REACH, STEPS = 8, 4, 120  # change me: letters in training, largest offset of the relative bias
WAYS = {  # positions that are added, the extent, and whether queries and keys are turned
    "none": (NoPositions(SIZE), Everything, False),
    "ALiBi": (NoPositions(SIZE), lambda: Alibi(HEADS), False),
    "learned": (LearnedPositions(SIZE, max_length=LENGTH), Everything, False),
    "sinusoidal": (SinusoidalPositions(SIZE), Everything, False),
    "rotary": (NoPositions(SIZE), Everything, True),
    "relative bias": (NoPositions(SIZE), lambda: RelativeBias(HEADS, REACH), False),
    "causal": (NoPositions(SIZE), Causal, False),
    "ALiBi, causal": (NoPositions(SIZE), lambda: Causal() & Alibi(HEADS), False),
}


def draw(rows, length, seed):  # one A (1) and one B (2) among other letters; is A before B? Each row also backwards
    torch.manual_seed(seed)
    tokens = torch.randint(3, 8, (rows, length))
    places = torch.rand(rows, length).argsort(1)[:, :2]
    tokens.scatter_(1, places, torch.tensor([[1, 2]]).expand(rows, 2))
    tokens = torch.cat([tokens, tokens.flip(1)])
    return tokens, (tokens == 1).int().argmax(1) < (tokens == 2).int().argmax(1)


def trained(positions, extent, rotary):
    model = *transformer(positions, 1, extent, rotary), nn.Linear(SIZE, 1)
    optimizer = torch.optim.Adam([p for part in model for p in part.parameters()], lr=0.01)
    for step in range(STEPS):
        tokens, first = draw(32, LENGTH, seed=step)
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(answer(model, tokens), first.double()).backward()
        optimizer.step()
    return model


def answer(model, tokens):  # above 0: A comes first
    return model[2](read(model[:2], tokens).mean(1))[:, 0]


models = {name: trained(*way) for name, way in WAYS.items()}
# %%
LENGTHS = [4, 8, 12, 16, 24, 32, 48, 64]
right = {name: {} for name in models}
for name, model in models.items():
    for length in LENGTHS:
        tokens, first = draw(200, length, seed=1000)
        can = name != "learned" or length <= LENGTH  # a learned position beyond its table does not exist
        right[name][length] = ((answer(model, tokens) > 0) == first).double().mean().item() if can else float("nan")
    print(f"{name:14}", *(f"{share:7.1%}" for share in right[name].values()))
# %%
WAY = {
    **{"none": "ninguna", "learned": "aprendidas", "sinusoidal": "sinusoidales", "rotary": "rotatorias"},
    **{"relative bias": "sesgo relativo", "ALiBi, causal": "ALiBi causal", "encoding": "codificación"},
    **{"place of the key": "lugar de la clave", "place of the query": "lugar de la consulta"},
    **{"What each encoding says of two places": "Qué dice cada codificación de dos lugares"},
    **{"letters": "letras", "Which came first, A or B?": "¿Qué vino antes, A o B?"},
    "Learned with {trained} letters, asked with {length}: right answers out of 100. A coin gets 50.": (
        "Aprendido con {trained} letras, preguntado con {length}: aciertos de cada 100. Una moneda acierta 50."
    ),
}


def shares(length):
    rows = {
        name: ["–" if share != share else f"{100 * share:.0f}" for share in row.values()] for name, row in right.items()
    }
    texts = {"letters": [str(number) for number in LENGTHS]} | rows
    said = "Learned with {trained} letters, asked with {length}: right answers out of 100. A coin gets 50."
    marked, shade = [LENGTHS.index(length)], {name: list(row.values()) for name, row in right.items()}
    return [Cells(texts, shade, marked=marked, limits=(0.5, 1)), Note(said, trained=LENGTH, length=length)]


title = "Which came first, A or B?"
hero = LivePicture(shares, Slider("letters", LENGTHS, 8), title=title, words={"es": WAY})
hero
# %% [en]
# Without positions the answer is right {{right[none][8]:.1%}} of the time. That is not a bad training: a sequence and
# its reverse give the same output, so one of the two is always wrong. **ALiBi** alone has the same fate,
# {{right[ALiBi][8]:.1%}}: |distance| knows how far, but not on which side. Together with a causal view, as its authors
# use it, it gets {{right[ALiBi, causal][8]:.1%}}. All others learn the order at the length of the training: learned
# {{right[learned][8]:.1%}}, sinusoidal {{right[sinusoidal][8]:.1%}}, rotary {{right[rotary][8]:.1%}}, relative bias
# {{right[relative bias][8]:.1%}}.
#
# With {{LENGTHS[5]}} letters they part. Learned positions have no vector for the later places and refuse. Sinusoidal
# ones are right {{right[sinusoidal][32]:.0%}} of the time: their hands take angles that were never seen. Rotary
# {{right[rotary][32]:.0%}}, relative bias {{right[relative bias][32]:.0%}}, causal {{right[causal][32]:.0%}}.
#
# ## What each says of two places
#
# Below is what each says about two places when the same word stands everywhere: products of position vectors, products
# of turned vectors, or the bias. Stripes along the diagonal mean that only the distance counts.
# %% [es]
# Sin posiciones se acierta el {{right[none][8]:.1%}} de las veces. No es un mal entrenamiento: una secuencia y su
# inversa dan la misma salida, así que una de las dos siempre está mal. **ALiBi** sola corre la misma suerte,
# {{right[ALiBi][8]:.1%}}: |distancia| sabe a qué distancia, pero no de qué lado. Junto con una vista causal, como la
# usan sus autores, llega al {{right[ALiBi, causal][8]:.1%}}. Todas las demás aprenden el orden con la longitud del
# entrenamiento: aprendidas {{right[learned][8]:.1%}}, sinusoidales {{right[sinusoidal][8]:.1%}}, rotatorias
# {{right[rotary][8]:.1%}}, sesgo relativo {{right[relative bias][8]:.1%}}.
#
# Con {{LENGTHS[5]}} letras se separan. Las posiciones aprendidas no tienen vector para los lugares nuevos y se niegan.
# Las sinusoidales aciertan el {{right[sinusoidal][32]:.0%}}: sus agujas toman ángulos nunca vistos. Rotatorias
# {{right[rotary][32]:.0%}}, sesgo relativo {{right[relative bias][32]:.0%}}, causal {{right[causal][32]:.0%}}.
#
# ## Qué dice cada una de dos lugares
#
# Abajo está lo que dice cada una de dos lugares cuando en todos está la misma palabra: productos de vectores de
# posición, productos de vectores girados, o el sesgo. Las franjas paralelas a la diagonal indican que solo cuenta la
# distancia.
# %%
EVERY = torch.arange(16)
bias = models["relative bias"][1].layers[0].self_attention.attention.extent.table.detach()  # (2 REACH + 1, HEADS)
to_left, to_right = bias[0, 0].item(), bias[-1, 0].item()  # of the first head, REACH or more places away
offsets = (EVERY - EVERY.unsqueeze(1)).clamp(-REACH, REACH) + REACH
turned = Rotary(SIZE)(torch.ones(16, SIZE), EVERY)
torch.manual_seed(0)
drawn = LearnedPositions(SIZE, max_length=16)(EVERY).detach()
maps = {
    "sinusoidal": SinusoidalPositions(SIZE)(EVERY) @ SinusoidalPositions(SIZE)(EVERY).T / (SIZE / 2),
    "learned": drawn @ drawn.T,  # as it starts
    "rotary": turned @ turned.T / SIZE,
    "relative bias": bias[offsets, 0] / bias.abs().max(),  # of the first head, as it was learned
    "ALiBi": -Alibi(HEADS).slopes[0] * (EVERY - EVERY.unsqueeze(1)).abs(),
}


def places(encoding):
    names = {"across": "place of the key", "up": "place of the query", "title": encoding}
    return HeatMap(maps[encoding], diverging=True, limits=(-1, 1), **names)


title = "What each encoding says of two places"
LivePicture(places, Slider("encoding", list(maps)), title=title, words={"es": WAY})
# %% [en]
# The relative bias has learned a sense of direction by itself: its first head adds {{to_left:.1f}} to the score of a key
# {{REACH}} or more places to the left, and {{to_right:.1f}} to one as far to the right. The bands of ALiBi are the same
# on both sides, which is why it failed.
#
# ## Change one number
#
# - `LENGTH = 16`: train with longer sequences. Do sinusoidal positions then hold up to 32?
# - `CLOCK = SinusoidalPositions(16)`: eight hands. Does the product fall faster with the distance?
# - `REACH = 1`: only "left", "same" and "right" are told apart. Is that enough?
#
# Every encoding with its map: `atento parts --what positions --out positions.html`.
# %% [es]
# El sesgo relativo ha aprendido por sí mismo un sentido de la dirección: su primera cabeza suma {{to_left:.1f}} a la
# puntuación de una clave situada {{REACH}} o más lugares a la izquierda, y {{to_right:.1f}} a una igual de lejos a la
# derecha. Las bandas de ALiBi son iguales a los dos lados, y por eso falló.
#
# ## Cambie un número
#
# - `LENGTH = 16`: entrene con secuencias más largas. ¿Resisten entonces las sinusoidales hasta 32?
# - `CLOCK = SinusoidalPositions(16)`: ocho agujas. ¿Cae el producto más deprisa con la distancia?
# - `REACH = 1`: solo se distinguen «izquierda», «igual» y «derecha». ¿Basta con eso?
#
# Todas las codificaciones con su mapa: `atento parts --what positions --out positions.html`.
