# %% [en]
# # Why warm-up
#
# At its first steps Adam moves every weight by the full learning rate, however little it knows: a deep post-norm
# Transformer does not survive that, and {{WARMUPS[2]}} steps of warm-up, or norms in another place, save it.
#
# Transformers are trained with an odd habit: the learning rate starts near zero, climbs for a while, and only then
# falls. This page takes the climb away from a small model and looks at what breaks.
# %% [es]
# # Por qué el calentamiento
#
# En sus primeros pasos Adam mueve cada peso la tasa de aprendizaje entera, por poco que sepa: un Transformer post-norm
# profundo no lo resiste, y {{WARMUPS[2]}} pasos de calentamiento, o normas en otro lugar, lo salvan.
#
# Los Transformers se entrenan con una costumbre extraña: la tasa de aprendizaje empieza cerca de cero, sube durante un
# rato, y solo después baja. Esta página le quita la subida a un modelo pequeño y mira qué se rompe.
# %% [en]
# ## A model that cannot repeat six letters
#
# The task could not be easier: read {{LENGTH}} letters, each one of {{LETTERS}}, and say the same letters. A model that
# guesses has a loss of ln {{LETTERS}} = {{guess:.2f}}. The model has {{LAYERS}} layers of width {{WIDTH}}.
# **Post-norm** normalizes after each sum, norm(x + f(x)), as the first Transformer did; **pre-norm** normalizes before
# each part, x + f(norm(x)). The rate, {{RATE}}, is high for such a model, so that the effect shows within {{STEPS}}
# steps. It falls to zero in a straight line, and a warm-up of w steps multiplies it by t / w at each step t below w.
# %% [es]
# ## Un modelo que no sabe repetir seis letras
#
# La tarea no puede ser más fácil: leer {{LENGTH}} letras, cada una entre {{LETTERS}}, y decir las mismas letras. Un
# modelo que adivina tiene una pérdida de ln {{LETTERS}} = {{guess:.2f}}. El modelo tiene {{LAYERS}} capas de anchura
# {{WIDTH}}. **Post-norm** normaliza después de cada suma, norm(x + f(x)), como el primer Transformer; **pre-norm**
# normaliza antes de cada parte, x + f(norm(x)). La tasa, {{RATE}}, es alta para un modelo así, para que el efecto se
# vea en {{STEPS}} pasos. Baja a cero en línea recta, y un calentamiento de w pasos la multiplica por t / w en cada paso
# t menor que w.
# %%
import math

import torch
from torch import nn

from atento.attention import Attention, Everything, MultiHead, ScaledDot, Softmax
from atento.blocks import TransformerEncoderLayer, TransformerStack, xavier
from atento.layers import FeedForward, PositionedEmbedding, SinusoidalPositions
from atento.views.live import Bars, Lines, LivePicture, Note, Slider

LAYERS, RATE = 6, 0.015  # change me
LETTERS, LENGTH, WIDTH, STEPS, SEEDS = 8, 6, 32, 40, 3
WARMUPS = [0, 3, 10, 30]
guess = math.log(LETTERS)

torch.set_default_dtype(torch.float64)


def transformer(order, layers):
    embedding = PositionedEmbedding(LETTERS + 1, SinusoidalPositions(WIDTH))
    stack = []
    for _ in range(layers):
        heads = MultiHead(WIDTH, 2, Attention(ScaledDot(), Softmax(), Everything()))
        stack.append(TransformerEncoderLayer(heads, FeedForward(WIDTH, WIDTH), order=order))
    xavier(embedding.tokens, stack)
    return nn.ModuleList([embedding, TransformerStack(stack)])


def states(model, letters):  # (rows, LENGTH) -> (rows, LENGTH, WIDTH)
    embedding, stack = model
    return stack(embedding(letters, torch.arange(LENGTH)))


def loss_of(model, letters):
    logits = states(model, letters) @ model[0].tokens.output_weight.T
    return nn.functional.cross_entropy(logits.flatten(0, 1), letters.flatten())


def train(order, warmup, seed):
    torch.manual_seed(seed)
    model = transformer(order, LAYERS)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    losses, gradients = [], []
    for step in range(1, STEPS + 1):
        loss = loss_of(model, torch.randint(1, LETTERS + 1, (8, LENGTH)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.param_groups[0]["lr"] = RATE * min(1, step / max(warmup, 1)) * (1 - (step - 1) / STEPS)
        optimizer.step()
        losses.append(loss.item())
        gradients.append(model[1].layers[0].feed_forward.narrow.weight.grad.norm().item())  # of the first layer
    return model, losses, gradients


post = {warmup: [train("post", warmup, seed) for seed in range(SEEDS)] for warmup in WARMUPS}
pre = [train("pre", 0, seed) for seed in range(SEEDS)]
final = {warmup: sum(sum(losses[-10:]) for _, losses, _ in runs) / (10 * SEEDS) for warmup, runs in post.items()}
pre_final = sum(sum(losses[-10:]) for _, losses, _ in pre) / (10 * SEEDS)
for warmup, runs in post.items():
    print(f"post-norm, warm-up of {warmup:2}:", *(f"{sum(losses[-10:]) / 10:.2f}" for _, losses, _ in runs))
print("pre-norm, no warm-up:    ", *(f"{sum(losses[-10:]) / 10:.2f}" for _, losses, _ in pre))
# %%
SPANISH = {
    **{"step": "paso", "loss": "pérdida", "steps of warm-up": "pasos de calentamiento", "guessing": "adivinar"},
    **{f"post-norm, seed {seed}": f"post-norm, semilla {seed}" for seed in range(SEEDS)},
    **{f"post-norm, warm-up of {warmup}": f"post-norm, calentamiento de {warmup}" for warmup in WARMUPS},
    "pre-norm, no warm-up": "pre-norm, sin calentamiento",
    "gradient of the first layer": "gradiente de la primera capa",
    "Six letters to repeat": "Seis letras que repetir",
    "Warm-up of {warmup} steps: post-norm ends at a loss of {final:.2f}; guessing is {guess:.2f}.": (
        "Calentamiento de {warmup} pasos: post-norm acaba con una pérdida de {final:.2f}; adivinar es {guess:.2f}."
    ),
}


def curves(warmup):
    panels = []
    for which, name, limits in ((1, "loss", (0, 4)), (2, "gradient of the first layer", (1e-5, 10))):
        shown = {f"post-norm, seed {seed}": run[which] for seed, run in enumerate(post[warmup])}
        shown["pre-norm, no warm-up"] = torch.tensor([run[which] for run in pre]).mean(0)
        shown |= {"guessing": [guess] * STEPS} if which == 1 else {}
        panels.append(Lines(shown, across="step", up=name, y_limits=limits, log_y=which == 2))
    said = "Warm-up of {warmup} steps: post-norm ends at a loss of {final:.2f}; guessing is {guess:.2f}."
    return [*panels, Note(said, warmup=warmup, final=final[warmup], guess=guess)]


def together():  # the mean over the seeds
    runs = {f"post-norm, warm-up of {warmup}": post[warmup] for warmup in (0, 3, 10)} | {"pre-norm, no warm-up": pre}
    means = {name: torch.tensor([losses for _, losses, _ in some]).mean(0) for name, some in runs.items()}
    return Lines(means | {"guessing": [guess] * STEPS}, across="step", up="loss", y_limits=(0, 3))


hero = LivePicture(together, words={"es": SPANISH})
title = "Six letters to repeat"
LivePicture(curves, Slider("steps of warm-up", WARMUPS), title=title, words={"es": SPANISH})


# %% [en]
# Without warm-up post-norm ends at {{final[0]:.2f}}, no better than a guess, with three steps at {{final[3]:.2f}}, with
# {{WARMUPS[2]}} at {{final[10]:.2f}}. Pre-norm needs none: {{pre_final:.3f}}. On the right is what broke: after a few
# steps hardly any gradient arrives at the first layer, and the model stays where it was thrown.
#
# Where is that? The next cell compares what the last layer says at the six places of a new text. In the broken model
# the vectors of different letters are nearly the same; whatever it reads, it says one thing.
# %% [es]
# Sin calentamiento post-norm acaba en {{final[0]:.2f}}, no mejor que adivinar; con tres pasos, en {{final[3]:.2f}}; con
# {{WARMUPS[2]}}, en {{final[10]:.2f}}. Pre-norm no lo necesita: {{pre_final:.3f}}. A la derecha está lo que se rompió:
# a los pocos pasos apenas llega gradiente a la primera capa, y el modelo se queda donde lo arrojaron.
#
# ¿Y dónde es eso? La celda siguiente compara lo que dice la última capa en los seis lugares de un texto nuevo. En el
# modelo roto los vectores de letras distintas son casi iguales; lea lo que lea, dice una sola cosa.
# %%
def alike(runs):  # mean cosine of the last layer's vectors of letters 1 to 6
    found = []
    for model, _, _ in runs:
        last = nn.functional.normalize(states(model, torch.arange(1, 7).unsqueeze(0))[0].detach(), dim=-1)
        found.append(((last @ last.T).sum() - 6) / 30)
    return sum(found).item() / len(found)


likeness = {warmup: alike(runs) for warmup, runs in post.items()}
print({warmup: f"{value:.2f}" for warmup, value in likeness.items()}, f"pre-norm: {alike(pre):.2f}")
# %% [en]
# The mean cosine of the vectors of six different letters is {{likeness[0]:.2f}} without warm-up and
# {{likeness[10]:.2f}} with {{WARMUPS[2]}} steps of it.
#
# ## What Adam does at its first steps
#
# Adam divides the mean of the gradients by the root of the mean of their squares, m / √v. After one step both means
# hold one gradient g, and m / √v = g / |g|: **plus or minus one**. Every weight moves by the full rate, whether its
# gradient is large, small, or nothing but noise. The picture feeds Adam pure noise, from which there is nothing to
# learn, and shows how far ten thousand weights move.
# %% [es]
# El coseno medio entre los vectores de seis letras distintas es {{likeness[0]:.2f}} sin calentamiento y
# {{likeness[10]:.2f}} con {{WARMUPS[2]}} pasos.
#
# ## Qué hace Adam en sus primeros pasos
#
# Adam divide la media de los gradientes por la raíz de la media de sus cuadrados, m / √v. Tras un paso las dos medias
# contienen un solo gradiente g, y m / √v = g / |g|: **más o menos uno**. Cada peso se mueve la tasa entera, sea su
# gradiente grande, pequeño o puro ruido. La figura alimenta a Adam con ruido puro, del que no hay nada que aprender, y
# muestra cuánto se mueven diez mil pesos.
# %%
AT = [1, 2, 3, 5, 10, 20, 50, 100]
torch.manual_seed(0)
weights = torch.zeros(10_000, requires_grad=True)
adam = torch.optim.Adam([weights], lr=1.0)
moves = {}
for step in range(1, AT[-1] + 1):
    before = weights.detach().clone()
    weights.grad = torch.randn(len(weights))
    adam.step()
    moves[step] = (weights.detach() - before).abs()
moved = {step: moves[step].mean().item() for step in AT}

BINS = [f"{at / 10:.1f}" for at in range(12)]


def noise(step):
    counts = torch.histc(moves[step], 12, -0.05, 1.15) / len(weights)  # each bar is 0.1 wide
    said = "Step {step}: the weights move by {moved:.2f} of the learning rate in the mean."
    chart = Bars(BINS, {"share of the weights": counts}, up="share of the weights", y_limits=(0, 1))
    return [chart, Note(said, step=step, moved=moved[step])]


NOISE = {
    "share of the weights": "parte de los pesos",
    "How far Adam goes on pure noise": "Cuánto se mueve Adam con puro ruido",
    "Step {step}: the weights move by {moved:.2f} of the learning rate in the mean.": (
        "Paso {step}: los pesos se mueven de media {moved:.2f} de la tasa de aprendizaje."
    ),
    **{name: name.replace(".", ",") for name in BINS},
}
title = "How far Adam goes on pure noise"
LivePicture(noise, Slider("step", AT), title=title, words={"es": SPANISH | NOISE})
# %% [en]
# At step 1 the mean move is {{moved[1]:.2f}} of the rate, at step 10 {{moved[10]:.2f}}, at step 100 {{moved[100]:.2f}}:
# once the means hold many gradients, noise cancels. A warm-up makes the rate small exactly while m / √v is not yet to
# be trusted. RAdam computes the same caution from the variance of v, and needs no schedule for it.
#
# ## Why post-norm minds, and pre-norm does not
#
# Give every weight of an untrained model one random push, up or down by the rate, and look at how far the output of
# each layer moves. In post-norm each layer sums the pushes of the layers below and its own, and normalizes the sum, so
# the shift grows with depth. In pre-norm the plain path x + … carries most of the signal past every layer, and a deep
# model moves little more than a shallow one. Liu et al. (2020) call it the amplification of post-norm.
# %% [es]
# En el paso 1 el movimiento medio es {{moved[1]:.2f}} de la tasa, en el 10 {{moved[10]:.2f}}, en el 100
# {{moved[100]:.2f}}: cuando las medias contienen muchos gradientes, el ruido se cancela. El calentamiento hace pequeña
# la tasa justo mientras no se puede confiar en m / √v. RAdam calcula la misma cautela a partir de la varianza de v, y
# no necesita un calendario para ello.
#
# ## Por qué le importa a post-norm, y a pre-norm no
#
# Dé a cada peso de un modelo sin entrenar un empujón al azar, hacia arriba o hacia abajo, del tamaño de la tasa, y mire
# cuánto se mueve la salida de cada capa. En post-norm cada capa suma los empujones de las de abajo y el suyo, y
# normaliza la suma, de modo que el desplazamiento crece con la profundidad. En pre-norm el camino directo x + … lleva
# la mayor parte de la señal más allá de cada capa, y un modelo profundo se mueve poco más que uno plano. Liu et al.
# (2020) lo llaman la amplificación de post-norm.
# %%
DEPTHS = [2, 4, 8, 16]


def each_layer(model, letters):  # what every layer says, normalized as the last one is
    values, said = model[0](letters, torch.arange(LENGTH)), []
    for layer in model[1].layers:
        values = layer(values)
        said.append(model[1].norm(values))
    return said


@torch.no_grad()
def pushed(order, depth):  # how far the output of each layer moves, as a share of its length; mean of four seeds
    shifts = []
    for seed in range(4):
        torch.manual_seed(seed)
        model, letters = transformer(order, depth), torch.randint(1, LETTERS + 1, (32, LENGTH))
        first = each_layer(model, letters)
        for weight in model.parameters():
            weight += RATE * torch.randn_like(weight).sign()
        pairs = zip(first, each_layer(model, letters), strict=True)
        shifts.append([((after - before).norm() / before.norm()).item() for before, after in pairs])
    return torch.tensor(shifts).mean(0)


shift = {order: {depth: pushed(order, depth) for depth in DEPTHS} for order in ("post", "pre")}
last = {order: [shift[order][depth][-1].item() for depth in DEPTHS] for order in ("post", "pre")}
print({order: [f"{moved:.2f}" for moved in found] for order, found in last.items()})


def layers(depth):
    curves = {"post-norm": shift["post"][depth], "pre-norm": shift["pre"][depth]}
    names = {"across": "layer", "up": "shift of its output"}
    return Lines(curves, dots=True, x_limits=(1, 16), y_limits=(0, 0.6), **names)


DEEP = {
    **{"layer": "capa", "shift of its output": "desplazamiento de su salida", "layers": "capas"},
    "One push for every weight": "Un empujón para cada peso",
}
title = "One push for every weight"
LivePicture(layers, Slider("layers", DEPTHS, 16), title=title, words={"es": DEEP})
# %% [en]
# With 2, 4, 8 and 16 layers the output of post-norm shifts by {{last[post][0]:.2f}}, {{last[post][1]:.2f}},
# {{last[post][2]:.2f}} and {{last[post][3]:.2f}} of its length, that of pre-norm by {{last[pre][0]:.2f}},
# {{last[pre][1]:.2f}}, {{last[pre][2]:.2f}} and {{last[pre][3]:.2f}}.
#
# This page is small on purpose: one task, three seeds, a rate chosen so that the difference shows in seconds. To repeat
# letters is also the easiest of tasks for pre-norm, whose plain path carries each letter to the output from the start.
# With a small rate or few layers post-norm learns without warm-up too. The long version, with five ways to train, five
# seeds, T-Fixup and RAdam, and with the claims of the literature one by one, is [why warm-up](../../why-warmup.md).
#
# ## Change one number
#
# - `RATE = 0.003`: does the model still need a warm-up?
# - `LAYERS = 2`: and a shallow one?
# - `WARMUPS = [0, 3, 10, 35]`: what does a warm-up cost that lasts almost the whole training?
#
# In a recipe: `--set train.warmup=100`, `--set train.warmup_shape=linear`, `--set model.norm=pre`;
# `atento parts --what schedules` draws the schedules.
# %% [es]
# Con 2, 4, 8 y 16 capas la salida de post-norm se desplaza {{last[post][0]:.2f}}, {{last[post][1]:.2f}},
# {{last[post][2]:.2f}} y {{last[post][3]:.2f}} de su longitud; la de pre-norm, {{last[pre][0]:.2f}},
# {{last[pre][1]:.2f}}, {{last[pre][2]:.2f}} y {{last[pre][3]:.2f}}.
#
# Esta página es pequeña a propósito: una tarea, tres semillas, una tasa elegida para que la diferencia se vea en
# segundos. Repetir letras es además la más fácil de las tareas para pre-norm, cuyo camino directo lleva cada letra
# hasta la salida desde el principio. Con una tasa pequeña o con pocas capas, post-norm también aprende sin
# calentamiento. La versión larga, con cinco maneras de entrenar, cinco semillas, T-Fixup y RAdam, y con las
# afirmaciones de la literatura una por una, es [why warm-up](../../why-warmup.md) (en inglés).
#
# ## Cambie un número
#
# - `RATE = 0.003`: ¿sigue necesitando calentamiento el modelo?
# - `LAYERS = 2`: ¿y uno poco profundo?
# - `WARMUPS = [0, 3, 10, 35]`: ¿cuánto cuesta un calentamiento que dura casi todo el entrenamiento?
#
# En una receta: `--set train.warmup=100`, `--set train.warmup_shape=linear`, `--set model.norm=pre`;
# `atento parts --what schedules` dibuja los calendarios.
