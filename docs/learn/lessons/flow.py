# %% [en]
# # The flow of a chaotic system
#
# A small network that learns one step of Lorenz's equations foretells {{reach:.1f}} Lyapunov times by running on its own
# output; then it is wrong about every moment, and still right about the system.
#
# The equations say how the state of a system changes; following them is its flow. Here a network learns the flow from
# examples. Chaos sets a limit to what it can foretell, and this page measures that limit.
# %% [es]
# # El flujo de un sistema caótico
#
# Una pequeña red que aprende un paso de las ecuaciones de Lorenz predice {{reach:.1f}} tiempos de Lyapunov alimentándose
# de su propia salida; después se equivoca en cada instante, y aun así acierta sobre el sistema.
#
# Las ecuaciones dicen cómo cambia el estado de un sistema; seguirlas es su flujo. Aquí una red aprende el flujo a partir
# de ejemplos. El caos pone un límite a lo que puede predecir, y esta página mide ese límite.
# %% [en]
# ## Two starts that are almost the same
#
# Lorenz's three equations are a sketch of air that is warmed from below. Take two states that differ in the sixth decimal
# and follow both exactly. For a while they are one curve; then each goes its own way. The distance, on a logarithmic
# scale, climbs along a straight line: it grows exponentially.
# %% [es]
# ## Dos comienzos casi iguales
#
# Las tres ecuaciones de Lorenz son un bosquejo del aire calentado desde abajo. Tome dos estados que difieren en el sexto
# decimal y siga los dos con exactitud. Durante un rato son una sola curva; luego cada uno toma su camino. La distancia,
# en escala logarítmica, sube por una recta: crece exponencialmente.
# %%
import numpy as np
import torch
from torch import nn

from atento.data.dynamics import Lorenz, trajectory
from atento.views.live import Lines, LivePicture, Note, Plane, Slider

APART = 1e-6  # change me: how far the two starts are from each other
STEP = 0.02  # time between two states

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def followed(start, steps, settle=0.0):
    return trajectory(Lorenz(), start, step=STEP, steps=steps, settle=settle, tolerance=1e-12)


random = np.random.default_rng(0)
starts = [followed(random.uniform((-10, -10, 15), (10, 10, 35)), 1, settle=8.0)[0] for _ in range(40)]
pairs = np.stack([[followed(start, 1001), followed(start + (APART, 0, 0), 1001)] for start in starts])  # (40, 2, T, 3)
times = STEP * np.arange(1001)
distances = np.linalg.norm(pairs[:, 0] - pairs[:, 1], axis=-1)  # (40, T)
growing = (times >= 1) & (times <= 10)  # past the first turns, long before the distance is as large as the attractor
exponent = np.polyfit(times[growing], np.log(distances).mean(axis=0)[growing], 1)[0]
print(f"the distance grows as exp({exponent:.2f} t): by e in {1 / exponent:.1f} units of time")
# %%
SPANISH = {
    **{"time": "tiempo", "first start": "primer comienzo", "second start": "segundo comienzo"},
    **{"distance": "distancia", "Two starts almost the same": "Dos comienzos casi iguales"},
    "At time {time:.1f} they are {apart:.2g} apart: {grown:.1e} times as far as at first.": (
        "En el tiempo {time:.1f} distan {apart:.2g}: {grown:.1e} veces más que al principio."
    ),
}
one, other = pairs[1]


def both(time):
    at = round(time / STEP)
    trail = slice(max(0, at - 120), at + 1, 2)
    paths = {"first start": one[trail][:, [0, 2]].round(2), "second start": other[trail][:, [0, 2]].round(2)}
    portrait = Plane(paths=paths, across="x", up="z", x_limits=(-20, 20), y_limits=(0, 50))
    look = {"across": "time", "up": "distance", "log_y": True, "cursor": time}
    said = "At time {time:.1f} they are {apart:.2g} apart: {grown:.1e} times as far as at first."
    apart = distances[1, at]
    distance = Lines({"distance": distances[1, ::10]}, x=times[::10].round(1), **look)
    return [portrait, distance, Note(said, time=time, apart=apart, grown=apart / distances[1, 0])]


LivePicture(
    both,
    Slider("time", [0.5 * half for half in range(1, 41)], 19.5),
    title="Two starts almost the same",
    words={"es": SPANISH},
)
# %% [en]
# Over {{PAIRS}} pairs of starts the distance grows as exp({{exponent:.2f}} t). The number {{exponent:.2f}} is the largest
# **Lyapunov exponent**, and 1 / {{exponent:.2f}} = {{lyapunov:.1f}} is the **Lyapunov time**: in each of them an error
# becomes e = 2.7 times as large. That holds for every forecast, whoever makes it.
#
# ## A network learns one step
#
# A network of two hidden layers reads a state and gives its change in the next {{STEP}} units of time. It sees
# {{EXAMPLES}} pairs of neighbouring states. Then it runs free: its answer is its next input. Move the slider from an
# untrained network to a trained one.
# %% [es]
# En {{PAIRS}} pares de comienzos la distancia crece como exp({{exponent:.2f}} t). El número {{exponent:.2f}} es el mayor
# **exponente de Lyapunov**, y 1 / {{exponent:.2f}} = {{lyapunov:.1f}} es el **tiempo de Lyapunov**: en cada uno, un error
# se hace e = 2,7 veces mayor. Eso vale para toda predicción, la haga quien la haga.
#
# ## Una red aprende un paso
#
# Una red con dos capas ocultas lee un estado y da su cambio en las siguientes {{STEP}} unidades de tiempo. Ve
# {{EXAMPLES}} pares de estados vecinos. Luego corre libre: su respuesta es su siguiente entrada. Mueva el deslizador de
# una red sin entrenar a una entrenada.
# %%
HIDDEN = 48  # change me: units of each hidden layer
STOPS = [10, 30, 100, 300, 1000, 2000]  # training steps after which the network is kept

PAIRS, lyapunov = len(pairs), 1 / exponent
states = torch.tensor(pairs[:, 0])  # (40, T, 3): the first 30 are for training, the last 10 for the test
mean, spread = states[:30].mean((0, 1)), states[:30].std((0, 1))
scaled = (states - mean) / spread
inputs, targets = (part[:30].flatten(0, 1) for part in (scaled[:, :-1], 10 * scaled.diff(dim=1)))
EXAMPLES = len(inputs)


class Flow(nn.Module):
    def __init__(self, products):
        super().__init__()
        self.products = products  # whether x·y and x·z are inputs too
        self.layers = nn.Sequential(
            *(nn.Linear(3 + 2 * products, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh()),
            nn.Linear(HIDDEN, 3),
        )

    def forward(self, state):
        more = [state[:, :1] * state[:, 1:]] if self.products else []
        return self.layers(torch.cat([state, *more], dim=1))


def learned(products):  # the networks after STOPS steps
    torch.manual_seed(0)
    flow, kept = Flow(products), {}
    optimizer = torch.optim.Adam(flow.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STOPS[-1])
    for step in range(1, STOPS[-1] + 1):
        rows = torch.randint(len(inputs), (256,))
        loss = (flow(inputs[rows]) - targets[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step in STOPS:
            kept[step] = Flow(products)
            kept[step].load_state_dict(flow.state_dict())
    return kept


@torch.no_grad()
def free_run(flow, state, steps):  # (N, 3) -> (N, steps + 1, 3): each answer is the next input
    run = [state]
    for _ in range(steps):
        run.append(run[-1] + flow(run[-1]) / 10)
    return torch.stack(run, dim=1)


LIMIT = 0.4  # an error of 0.4 standard deviations ends a forecast
SPAN = 400  # steps that a forecast may last
begins = [(row, at) for row in range(30, 40) for at in range(0, 600, 40)]
truth = torch.stack([scaled[row, at : at + SPAN + 1] for row, at in begins])  # (150, SPAN + 1, 3)


def reaches(run):  # Lyapunov times until the error is larger than LIMIT, of each run
    wrong = (run - truth).square().mean(-1).sqrt() > LIMIT
    first = torch.where(wrong.any(1), wrong.double().argmax(1), SPAN)
    return first * STEP * exponent


models = {"state": learned(products=False), "state and products": learned(products=True)}
runs = {(kind, step): free_run(models[kind][step], truth[:, 0], SPAN) for kind in models for step in STOPS}
valid = {which: reaches(run).median().item() for which, run in runs.items()}
errors = {which: (run[:, 1] - truth[:, 1]).square().mean().sqrt().item() for which, run in runs.items()}
reach = valid["state", STOPS[-1]]
for kind, step in runs:
    print(f"{kind:18} {step:4} steps: error of one step {errors[kind, step]:.4f}, valid {valid[kind, step]:.1f}")
# %%
SPANISH = {
    **{"training steps": "pasos de entrenamiento", "start": "comienzo", "time": "tiempo", "truth": "verdad"},
    **{"hard": "difícil", "typical": "típico", "easy": "fácil"},
    **{"network": "red", "One step learned, then run free": "Un paso aprendido y luego libre"},
    "After {steps} training steps this forecast holds for {own:.1f} Lyapunov times; the median is {median:.1f}.": (
        "Tras {steps} pasos de entrenamiento esta predicción vale {own:.1f} tiempos de Lyapunov; la mediana es "
        "{median:.1f}."
    ),
}
order = reaches(runs["state", STOPS[-1]]).argsort().tolist()
SHOWN = {"hard": order[15], "typical": order[75], "easy": order[135]}  # by how long the last network's forecast holds


def free(steps, start):
    row, run = SHOWN[start], runs["state", steps]
    own = reaches(run)[row].item()
    curves = {
        "truth": (truth[row] * spread + mean)[::2].round(decimals=1),
        "network": (run[row] * spread + mean)[::2].round(decimals=1),
    }
    paths = {name: values[:, [0, 2]] for name, values in curves.items()}
    portrait = Plane(paths=paths, across="x", up="z", x_limits=(-22, 22), y_limits=(0, 50))
    look = {"x": times[: SPAN + 1 : 2].round(2), "across": "time", "up": "x", "cursor": round(own / exponent, 2)}
    lines = Lines({name: values[:, 0] for name, values in curves.items()}, y_limits=(-22, 22), **look)
    said = "After {steps} training steps this forecast holds for {own:.1f} Lyapunov times; the median is {median:.1f}."
    return [portrait, lines, Note(said, steps=steps, own=own, median=valid["state", steps])]


hero = LivePicture(
    free,
    Slider("training steps", STOPS, 2000),
    Slider("start", list(SHOWN), "typical"),
    title="One step learned, then run free",
    words={"es": SPANISH},
)
hero
# %% [en]
# After {{STOPS[5]}} steps the median of {{STARTS}} forecasts holds for {{reach:.1f}} Lyapunov times. The curves part all at
# once, but the error was there from the first step and only had to grow.
#
# ## What accuracy buys
#
# If an error grows by e in one Lyapunov time, a network that is e times as exact gains one Lyapunov time, and no more. The
# picture puts this to the test: to the right, smaller errors of one step; upwards, longer forecasts. A second network also
# gets the products xy and xz as inputs, which Lorenz's equations contain.
# %% [es]
# Tras {{STOPS[5]}} pasos la mediana de {{STARTS}} predicciones vale {{reach:.1f}} tiempos de Lyapunov. Las curvas se separan
# de golpe, pero el error estaba ahí desde el primer paso y solo tenía que crecer.
#
# ## Lo que compra la exactitud
#
# Si un error crece por e en un tiempo de Lyapunov, una red e veces más exacta gana un tiempo de Lyapunov, y nada más. La
# figura lo pone a prueba: hacia la derecha, errores de un paso menores; hacia arriba, predicciones más largas. Una segunda
# red recibe también los productos xy y xz, que están en las ecuaciones de Lorenz.
# %%
STARTS = len(begins)
folds = {which: -np.log(error) for which, error in errors.items()}  # how many times e divides the error
trained = [(kind, step) for kind in models for step in STOPS[2:]]
slope = np.polyfit([folds[which] for which in trained], [valid[which] for which in trained], 1)[0]
best = valid["state and products", STOPS[-1]]
sharper = errors["state", STOPS[-1]] / errors["state and products", STOPS[-1]]
print(f"a factor e of accuracy buys {slope:.1f} Lyapunov times of forecast")
SPANISH = {
    **{"training steps": "pasos de entrenamiento", "state": "estado", "state and products": "estado y productos"},
    **{"one for one": "uno por uno", "now": "ahora", "What accuracy buys": "Lo que compra la exactitud"},
    "accuracy: ln (1 / error of one step)": "exactitud: ln (1 / error de un paso)",
    "forecast, in Lyapunov times": "predicción, en tiempos de Lyapunov",
    "{steps} steps: an error of {plain:.4f} holds for {first:.1f}, one of {products:.4f} for {second:.1f}.": (
        "{steps} pasos: un error de {plain:.4f} aguanta {first:.1f}; uno de {products:.4f}, {second:.1f}."
    ),
}


def bought(steps):
    paths = {kind: [(folds[kind, step], valid[kind, step]) for step in STOPS] for kind in models}
    low, high = 4.0, 7.0
    paths["one for one"] = [(low, 0.5), (high, 0.5 + high - low)]
    now = {"now": [(folds[kind, steps], valid[kind, steps]) for kind in models]}
    look = {"across": "accuracy: ln (1 / error of one step)", "up": "forecast, in Lyapunov times"}
    said = "{steps} steps: an error of {plain:.4f} holds for {first:.1f}, one of {products:.4f} for {second:.1f}."
    numbers = {"plain": errors["state", steps], "products": errors["state and products", steps]}
    note = Note(said, steps=steps, first=valid["state", steps], second=valid["state and products", steps], **numbers)
    return [Plane(now, paths=paths, **look), note]


LivePicture(bought, Slider("training steps", STOPS, 1000), title="What accuracy buys", words={"es": SPANISH})
# %% [en]
# From {{STOPS[2]}} training steps on, each factor e of accuracy buys {{slope:.1f}} Lyapunov times. The products help: with
# them one step is {{sharper:.1f}} times as exact, and the forecast {{best:.1f}} Lyapunov times long. To foretell ten more, the
# error of a step would have to shrink by e to the power of ten: 22,000 times. This is why weather forecasts gain about a
# day in a decade.
#
# ## Wrong about the moment, right about the system
#
# Is a network that has lost the truth of any use? Write down each maximum of z and draw it against the one before.
# Lorenz found that the points lie on one sharp tent: from one maximum the next follows. Let the network run for
# {{LONG}} units of time, long after its forecasts ended, and draw its own maxima.
# %% [es]
# Desde {{STOPS[2]}} pasos de entrenamiento, cada factor e de exactitud compra {{slope:.1f}} tiempos de Lyapunov. Los
# productos ayudan: hacen un paso {{sharper:.1f}} veces más exacto, y la predicción dura {{best:.1f}} tiempos de Lyapunov.
# Para predecir diez más, el error de un paso tendría que encoger por e elevado a diez: 22.000 veces. Por eso los
# pronósticos del tiempo ganan más o menos un día por década.
#
# ## Errada en el instante, certera en el sistema
#
# ¿Sirve de algo una red que ha perdido la verdad? Anote cada máximo de z y dibújelo frente al anterior. Lorenz descubrió
# que los puntos están en una sola carpa puntiaguda: de un máximo se sigue el próximo. Deje correr la red {{LONG}} unidades
# de tiempo, mucho después de que acabaran sus predicciones, y dibuje sus propios máximos.
# %%
LONG = 30


def maxima(run):  # (N, T, 3) scaled -> pairs (M, 2) of consecutive maxima of z
    found = []
    for z in run[:, :, 2] * spread[2] + mean[2]:
        top = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] > z[2:])]
        found.append(torch.stack([top[:-1], top[1:]], dim=1))
    return torch.cat(found)


def growth(flow):  # the exponent of the network itself, from pairs of close starts
    first = truth[::3, 0]
    ends = free_run(flow, torch.cat([first, first + APART]), 500)
    apart = (ends[: len(first)] - ends[len(first) :]).norm(dim=-1).log().mean(0)
    return ((apart[-1] - apart[50]) / (STEP * 450)).item()


tent = maxima(scaled[30:])
own = {step: free_run(models["state"][step], truth[::19, 0], round(LONG / STEP))[:, 300:] for step in STOPS}
exponents = {step: growth(models["state"][step]) for step in STOPS}
SPANISH = {
    **{"training steps": "pasos de entrenamiento", "truth": "verdad", "network": "red"},
    **{"a maximum of z": "un máximo de z", "the next maximum": "el máximo siguiente"},
    **{"Each maximum against the one before": "Cada máximo frente al anterior"},
    "After {steps} steps two close starts of the network part as exp({own:.2f} t); the truth: exp({true:.2f} t).": (
        "Tras {steps} pasos, dos comienzos próximos de la red se separan como exp({own:.2f} t); la verdad: "
        "exp({true:.2f} t)."
    ),
}


def tents(steps):
    points = {"truth": tent[:180].round(decimals=2), "network": maxima(own[steps])[:180].round(decimals=2)}
    said = "After {steps} steps two close starts of the network part as exp({own:.2f} t); the truth: exp({true:.2f} t)."
    note = Note(said, steps=steps, own=exponents[steps], true=exponent)
    names = {"across": "a maximum of z", "up": "the next maximum"}
    return [Plane(points, x_limits=(28, 48), y_limits=(28, 48), **names), note]


title = "Each maximum against the one before"
LivePicture(tents, Slider("training steps", STOPS, 2000), title=title, words={"es": SPANISH})
# %% [en]
# The trained network draws the same tent, and its own Lyapunov exponent is {{exponents[2000]:.1f}}, where the equations
# have {{exponent:.1f}}. It has learned the chaos itself. Weather is the path, climate the shape: a good model loses the
# first and keeps the second. A network trained for {{STOPS[2]}} steps has neither.
#
# ## Change one number
#
# - `APART = 1e-3`: how much earlier do the two starts part? The formula says ln(1000) Lyapunov times.
# - `HIDDEN = 16`: how many Lyapunov times does a smaller network lose?
# - `STEP = 0.05`: longer steps are harder to learn, but fewer are needed. Which wins?
#
# The same with a trained run: `atento train lorenz --model rnn --out run`, then
# `atento look run --what phase --out phase.html`. [Dynamical systems](../../tasks/dynamics.md) tells more.
# %% [es]
# La red entrenada dibuja la misma carpa, y su propio exponente de Lyapunov es {{exponents[2000]:.1f}}, donde las ecuaciones
# tienen {{exponent:.1f}}. Ha aprendido el caos mismo. El tiempo es el camino, el clima es la forma: un buen modelo pierde
# el primero y conserva la segunda. Una red entrenada {{STOPS[2]}} pasos no tiene ni uno ni otra.
#
# ## Cambie un número
#
# - `APART = 1e-3`: ¿cuánto antes se separan los dos comienzos? La fórmula dice ln(1000) tiempos de Lyapunov.
# - `HIDDEN = 16`: ¿cuántos tiempos de Lyapunov pierde una red más pequeña?
# - `STEP = 0.05`: los pasos largos son más difíciles de aprender, pero hacen falta menos. ¿Quién gana?
#
# Lo mismo con un modelo entrenado: `atento train lorenz --model rnn --out run` y luego
# `atento look run --what phase --out phase.html`. Más en [sistemas dinámicos](../../tasks/dynamics.md), en inglés.
