# %% [en]
# # The cook who remembers
#
# A network that sees only today is right {{today:.0%}} of the time; the same network with a memory is right {{memory:.0%}} of the time.
#
# In a shared flat one person cooks three dishes in turn: apple pie, burger, chicken. When the sun shines, the cook goes for a
# walk and makes yesterday's dish again. When it rains, there is time for something new, and the next dish of the cycle is made.
# What is for dinner today? The weather alone does not tell: on a rainy day it may be any of the three. One has to know what was
# eaten yesterday, and to know that, what was eaten the day before. The answer depends on *all* earlier days, through one small
# thing that must be kept: the last dish.

# %% [es]
# # El cocinero que recuerda
#
# Una red que solo ve el día de hoy acierta el {{today:.0%}} de las veces; la misma red con memoria acierta el {{memory:.0%}}.
#
# En un piso compartido, una persona cocina por turno tres platos: tarta de manzana, hamburguesa y pollo. Si hace sol, sale a
# pasear y repite el plato de ayer. Si llueve, tiene tiempo para algo nuevo y prepara el siguiente plato del ciclo.
# ¿Qué hay hoy de cena? El tiempo por sí solo no lo dice: en un día de lluvia puede ser cualquiera de los tres. Hay que saber qué
# se comió ayer y, para saberlo, qué se comió anteayer. La respuesta depende de *todos* los días anteriores, a través de una cosa
# pequeña que hay que conservar: el último plato.

# %%
import torch
from torch import nn

from atento.recurrent import RNN
from atento.views.live import Cells, Lines, LivePicture, Note, Plane, Slider

torch.set_default_dtype(torch.float64)  # the same numbers on every machine
HIDDEN = 8  # change me: the units of the memory
DISHES = ["pie", "burger", "chicken"]


def cook(rain):
    """Rain (B, T), 0 or 1 for each day -> the dish of each day; before the first day it was pie."""
    return rain.cumsum(dim=1) % 3


class TodayOnly(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, days):  # (B, T, 2) -> logits (B, T, 3)
        return self.head(self.body(days).tanh())  # h_t = tanh(U x_t)


class Remembers(TodayOnly):
    def __init__(self):
        super().__init__()
        self.body = RNN(2, HIDDEN)

    def forward(self, days):
        states, _ = self.body(days)  # h_t = tanh(U x_t + W h_(t-1))
        return self.head(states)


# %% [en]
# Both networks have the same hidden layer and the same output layer. The only difference is one term: the recurrent network
# (Elman, 1990) adds to today's weather the product of a matrix `W` with its own state of yesterday. We show both of them 64
# fortnights and ask them about 200 months they have never seen.

# %% [es]
# Las dos redes tienen la misma capa oculta y la misma capa de salida. Solo se diferencian en un término: la red recurrente
# (Elman, 1990) suma al tiempo de hoy el producto de una matriz `W` por su propio estado de ayer. Mostramos a ambas 64 quincenas
# y les preguntamos por 200 meses que no han visto nunca.


# %%
def weather(rows, days, seed):
    return torch.randint(2, (rows, days), generator=torch.Generator().manual_seed(seed))


def as_input(rain):
    return nn.functional.one_hot(rain, 2).double()


seen, unseen = weather(64, 14, seed=1), weather(200, 28, seed=2)
STOPS = [0, 10, 20, 30, 40, 60, 80, 100, 120, 150, 180, 220, 260, 300]


def learn(network):
    """Train on the seen fortnights; at each stop keep the logits for the unseen months."""
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    kept = []
    for step in range(STOPS[-1] + 1):
        if step in STOPS:
            with torch.no_grad():
                kept.append(network(as_input(unseen)))
        logits = network(as_input(seen))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), cook(seen).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return kept


torch.manual_seed(0)
runs = {"sees today only": learn(TodayOnly()), "remembers": learn(Remembers())}
right = {
    name: [(logits.argmax(-1) == cook(unseen)).double().mean().item() for logits in kept] for name, kept in runs.items()
}
today, memory = right["sees today only"][-1], right["remembers"][-1]

# %%
MONTH = 7  # which of the unseen months is shown
WORDS = {
    "pie": "tarta", "burger": "hamburguesa", "chicken": "pollo", "sun": "sol", "rain": "lluvia", "weather": "tiempo",
    "the cook": "el cocinero", "sees today only": "solo ve hoy", "remembers": "recuerda", "training step": "paso de entrenamiento",
    "share of dinners told correctly": "proporción de cenas acertadas", 
    "burger rather than pie": "hamburguesa antes que tarta",
    "chicken rather than those two": "pollo antes que esos dos",
}  # fmt: skip
TITLE, CAPTION = (
    "One week of dinners",
    "Texts: the guess of each network. Shades: the probability it gave to the right dish.",
)
NOTE = "after {step} steps: {a:.0%} without memory, {b:.0%} with memory"
SPANISH = WORDS | {
    TITLE: "Una semana de cenas",
    CAPTION: "Textos: lo que dice cada red. Tonos: la probabilidad que dio al plato correcto.",
    NOTE: "tras {step} pasos: {a:.0%} sin memoria, {b:.0%} con memoria",
}


def one_week(step):
    at, week = STOPS.index(step), unseen[MONTH, :7]
    dishes = cook(unseen)[MONTH, :7]
    texts = {"weather": [["sun", "rain"][day] for day in week], "the cook": [DISHES[dish] for dish in dishes]}
    shades = {}
    for name, kept in runs.items():
        logits = kept[at][MONTH, :7]
        texts[name] = [DISHES[dish] for dish in logits.argmax(-1)]
        shades[name] = logits.softmax(-1)[range(7), dishes]
    curves = {name: values[: at + 1] for name, values in right.items()}
    chart = Lines(
        curves, x=STOPS[: at + 1], across="training step", up="share of dinners told correctly", dots=True,
        x_limits=(0, 300), y_limits=(0, 1),
    )  # fmt: skip
    note = Note(NOTE, step=step, a=curves["sees today only"][-1], b=curves["remembers"][-1])
    return [chart, Cells(texts, shades, limits=(0, 1)), note]


LivePicture(one_week, Slider("training step", STOPS, start=300), title=TITLE, caption=CAPTION, words={"es": SPANISH})

# %% [en]
# Press play. The network without memory learns one thing, how often each dish is cooked, and stays near one third: for the same
# weather it must always give the same answer. The other one begins in the same place, and after some dozens of steps its shades
# turn dark from the left to the right: first it is right early in the week, then on all days. It was trained on fortnights and
# is asked about months, and it does not wear out.
#
# ## Where the memory is
#
# The state has {{HIDDEN}} numbers, and the output layer reads three logits from it. Three logits, of which only differences count,
# are a point in the plane: to the right the network says burger rather than pie, upwards it says chicken. A point for each evening
# of some unseen months, with the marker of the dish that was on the table:

# %% [es]
# Pulse reproducir. La red sin memoria aprende una sola cosa, con qué frecuencia se cocina cada plato, y se queda cerca de un
# tercio: ante el mismo tiempo tiene que dar siempre la misma respuesta. La otra empieza en el mismo lugar y, tras unas decenas
# de pasos, sus tonos se oscurecen de izquierda a derecha: primero acierta al comienzo de la semana, después todos los días. Se
# entrenó con quincenas, se le pregunta por meses, y no se agota.
#
# ## Dónde está la memoria
#
# El estado tiene {{HIDDEN}} números, y la capa de salida lee de él tres logits. Tres logits, de los que solo cuentan las
# diferencias, son un punto en el plano: hacia la derecha la red dice hamburguesa antes que tarta, hacia arriba dice pollo. Un
# punto por cada noche de varios meses no vistos, con el marcador del plato que había en la mesa:

# %%
SPACE, SPACE_CAPTION = "What the state holds", "Each point is one evening: the state as the output layer reads it."
SPANISH_SPACE = WORDS | {
    SPACE: "Lo que guarda el estado",
    SPACE_CAPTION: "Cada punto es una noche: el estado tal como lo lee la capa de salida.",
}
served = cook(unseen)[:20].flatten()


def state_plane(step):
    pie, burger, chicken = runs["remembers"][STOPS.index(step)][:20].flatten(0, 1).T
    places = torch.stack([burger - pie, chicken - (burger + pie) / 2], dim=1)
    groups = {name: places[served == dish] for dish, name in enumerate(DISHES)}
    return Plane(groups, across="burger rather than pie", up="chicken rather than those two")


slider = Slider("training step", STOPS, start=300)
LivePicture(state_plane, slider, title=SPACE, caption=SPACE_CAPTION, words={"es": SPANISH_SPACE})

# %% [en]
# At step 0 the three dishes lie on top of each other. At the end they are three corners of a triangle: nobody told the network to
# keep the last dish, but its state holds the last dish, because that is what the answer needs. Within a corner the points form
# small groups, a group for each way in which the day went, such as rain after burger or sun after chicken. That is how the network
# computes. A unit adds the weather and the memory, and it cannot multiply them; one way to carry out "if rain, then the next
# one" is a unit for each pair of yesterday's dish and today's weather. There are six pairs.
#
# ## Change one number
#
# Set `HIDDEN = 3` and run again. Three units could *hold* three dishes, but are too few to *compute* the next one: the network
# improves a little over one third and stays there. Try 5, 6 and 16, and change the seed: near the border, chance decides.

# %% [es]
# En el paso 0 los tres platos están unos encima de otros. Al final son las tres esquinas de un triángulo: nadie le dijo a la red
# que conservara el último plato, pero su estado lo guarda, porque es lo que la respuesta necesita. Dentro de una esquina los
# puntos forman pequeños grupos, uno por cada manera en que transcurrió el día, como lluvia tras hamburguesa o sol tras pollo. Así
# calcula la red. Una unidad suma el tiempo y la memoria, y no puede multiplicarlos; una manera de realizar «si llueve, el
# siguiente» es una unidad por cada par de plato de ayer y tiempo de hoy. Hay seis pares.
#
# ## Cambie un número
#
# Ponga `HIDDEN = 3` y ejecute de nuevo. Tres unidades podrían *guardar* tres platos, pero no bastan para *calcular* el
# siguiente: la red mejora un poco sobre un tercio y ahí se queda. Pruebe con 5, 6 y 16, y cambie la semilla: cerca de la
# frontera decide el azar.
