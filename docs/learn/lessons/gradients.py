# %% [en]
# # Gradients that vanish, gates that keep
#
# Thirty steps back, the gradient of a plain recurrent network has shrunk to {{rnn30:.1%}} of what it was; behind a gate that is nearly open it has not shrunk at all.
#
# A recurrent network learns from its mistakes by sending a gradient back through time. If today's answer was wrong because of
# something that happened 30 steps ago, the gradient has to travel 30 steps to say so. On the way it is multiplied, at each step,
# by the derivative of one state by the one before. Multiply 30 numbers a little below 1, and nothing is left; a little above 1,
# and the product explodes. That is the whole problem (Bengio et al., 1994), and one can watch it.

# %% [es]
# # Gradientes que se desvanecen, puertas que conservan
#
# Treinta pasos atrás, el gradiente de una red recurrente simple se ha reducido al {{rnn30:.1%}} de lo que era; tras una puerta casi abierta no se ha reducido nada.
#
# Una red recurrente aprende de sus errores enviando un gradiente hacia atrás en el tiempo. Si la respuesta de hoy fue errónea
# por algo que ocurrió hace 30 pasos, el gradiente tiene que recorrer 30 pasos para decirlo. Por el camino se multiplica, en cada
# paso, por la derivada de un estado respecto del anterior. Multiplique 30 números algo menores que 1 y no queda nada; algo
# mayores que 1, y el producto explota. Ese es todo el problema (Bengio et al., 1994), y se puede ver.

# %%
import torch
from torch import nn

from atento.recurrent import ElmanCell, GRUCell, LSTMCell, unroll
from atento.views.live import Lines, LivePicture, Note, Slider

torch.set_default_dtype(torch.float64)  # the same numbers on every machine
KEEP = 3.0  # change me: added to the bias of the gate that keeps the state
HIDDEN, STEPS = 24, 60


def plain(radius, inputs=3):
    """A plain recurrent cell whose matrix W has the given spectral radius, its largest absolute eigenvalue."""
    torch.manual_seed(0)
    cell = ElmanCell(inputs, HIDDEN)
    with torch.no_grad():
        cell.recur.weight *= radius / torch.linalg.eigvals(cell.recur.weight).abs().max()
    return cell


def gated(kind, keep, inputs=3):
    """An LSTM or GRU cell whose forget or update gate opens wider by `keep`: with 3 it lets 95 % of the state through."""
    torch.manual_seed(0)
    cell = kind(inputs, HIDDEN)
    start = HIDDEN * cell.layout.index("forget" if kind is LSTMCell else "update")
    with torch.no_grad():
        cell.read.bias[start : start + HIDDEN] += keep
    return cell


def gradient_norms(cell):
    """The norm of d s_t / d s_k for t = 60 and every k, by lag t - k, relative to lag 0."""
    noise = torch.randn(STEPS, 1, 3, generator=torch.Generator().manual_seed(1)) / 2
    state, states = cell.start(noise[0].expand(HIDDEN, 3)), []  # as many copies as the state has numbers,
    for inputs in noise:
        state = cell(inputs.expand(HIDDEN, 3), state)
        states.append(state[-1])  # of an LSTM its carry c, else the hidden state h
    jacobians = torch.autograd.grad(states[-1], states, torch.eye(HIDDEN))  # copy i gives row i of each Jacobian
    return [one.norm().item() / HIDDEN**0.5 for one in reversed(jacobians)]


# %% [en]
# No training yet: three fresh cells read the same noise, and we ask how much the state after 60 steps still depends on the state
# before. The first slider scales the matrix `W` of the plain network. The second moves the bias of the gate: the forget gate of
# the LSTM, the update gate of the GRU.

# %% [es]
# Todavía sin entrenar: tres celdas nuevas leen el mismo ruido, y preguntamos cuánto depende aún el estado tras 60 pasos del
# estado anterior. El primer deslizador escala la matriz `W` de la red simple. El segundo mueve el sesgo de la puerta: la puerta
# de olvido de la LSTM, la puerta de actualización de la GRU.

# %%
RADII, BIASES = [0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6], [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
norms = {radius: gradient_norms(plain(radius)) for radius in RADII}
gates = {bias: (gradient_norms(gated(LSTMCell, bias)), gradient_norms(gated(GRUCell, bias))) for bias in BIASES}
LAG = 30
rnn30, lstm30, gru30 = norms[0.9][LAG], gates[3.0][0][LAG], gates[3.0][1][LAG]
lstm59 = gates[3.0][0][-1]
TITLE, CAPTION = (
    "How far back a gradient reaches",
    "Norm of the derivative of the last state by the state some steps before.",
)
NOTE = "{lag} steps back: RNN {rnn:.2g}, LSTM {lstm:.2g}, GRU {gru:.2g}"
WORDS = {
    "lag in steps": "retardo en pasos",
    "norm of the gradient": "norma del gradiente",
    "spectral radius of W (RNN)": "radio espectral de W (RNN)",
    "bias of the gate (LSTM, GRU)": "sesgo de la puerta (LSTM, GRU)",
    TITLE: "Hasta dónde llega un gradiente",
    CAPTION: "Norma de la derivada del último estado respecto del estado de unos pasos antes.",
    NOTE: "{lag} pasos atrás: RNN {rnn:.2g}, LSTM {lstm:.2g}, GRU {gru:.2g}",
}


def reach(radius, bias):
    curves = {"RNN": norms[radius], "LSTM": gates[bias][0], "GRU": gates[bias][1]}
    note = Note(NOTE, lag=LAG, rnn=curves["RNN"][LAG], lstm=curves["LSTM"][LAG], gru=curves["GRU"][LAG])
    lags = range(STEPS)
    limits = (1e-10, 1e2)
    chart = Lines(
        curves, x=lags, across="lag in steps", up="norm of the gradient", log_y=True, cursor=LAG, y_limits=limits
    )
    return [chart, note]


LivePicture(
    reach,
    Slider("spectral radius of W (RNN)", RADII, start=0.9),
    Slider("bias of the gate (LSTM, GRU)", BIASES, start=3.0),
    title=TITLE,
    caption=CAPTION,
    words={"es": WORDS},
)

# %% [en]
# On this logarithmic scale the plain network is a straight slope: with radius 0.9 the
# gradient at lag 30 is {{rnn30:.2g}}. There is a narrow place between 1.1 and 1.3 where it neither dies nor grows, and a network that trains
# does not stay there. The gated cells have a slope too. With a bias of 0 a gate is half open, and one half to the power of 30 is
# as dead as anything: **gates do not help by being there, they help by being open.** At a bias of 3 the forget gate lets 95 % of
# the carry through, and at lag 30 the gradient is {{lstm30:.2g}} in the LSTM and {{gru30:.2g}} in the GRU. Further back the LSTM's even
# grows, to {{lstm59:.0f}} at lag 59: gates cure what vanishes; against what explodes one clips the gradient.
#
# ## Does it matter for learning?
#
# The simplest task that needs memory: the first step shows one of four symbols, then comes noise, and at the end one has to say
# which symbol it was. By chance one is right in a quarter of the cases.

# %% [es]
# En esta escala logarítmica la red simple es una pendiente recta: con radio 0,9 el
# gradiente con retardo 30 es {{rnn30:.2g}}. Hay un lugar estrecho entre 1,1 y 1,3 donde ni muere ni crece, y una red que se entrena
# no se queda ahí. Las celdas con puertas también tienen pendiente. Con un sesgo de 0 la puerta está medio abierta, y un medio
# elevado a 30 está tan muerto como lo demás: **las puertas no ayudan por estar, ayudan por estar abiertas.** Con un sesgo de 3 la
# puerta de olvido deja pasar el 95 % de la memoria, y con retardo 30 el gradiente es {{lstm30:.2g}} en la LSTM y {{gru30:.2g}} en
# la GRU. Más atrás, el de la LSTM incluso crece, hasta {{lstm59:.0f}} con retardo 59: las puertas curan lo que se desvanece; contra lo
# que explota se recorta el gradiente.
#
# ## ¿Importa para aprender?
#
# La tarea más sencilla que exige memoria: el primer paso muestra uno de cuatro símbolos, después viene ruido, y al final hay que
# decir qué símbolo era. Por azar se acierta en una cuarta parte de los casos.

# %%
LAGS = [5, 20, 40]
MODELS = {
    "RNN": lambda: plain(0.7, inputs=6),
    "LSTM, bias 0": lambda: gated(LSTMCell, 0.0, inputs=6),
    "LSTM, gate open": lambda: gated(LSTMCell, KEEP, inputs=6),
}


def examples(count, lag, seed):
    draw = torch.Generator().manual_seed(seed)
    symbols = torch.randint(4, (count,), generator=draw)
    inputs = torch.zeros(count, lag + 1, 6)
    inputs[:, 0, :4] = nn.functional.one_hot(symbols, 4).double()
    inputs[:, :, 4:] = torch.randn(count, lag + 1, 2, generator=draw)
    return inputs, symbols


STOPS = [0, 20, 40, 60, 80, 100, 120]


def accuracies(make, lag):
    """The accuracy on new examples at each stop of the training."""
    cell, head, found = make(), nn.Linear(HIDDEN, 4), []
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.005)
    asked, answers = examples(200, lag, seed=10_000)
    for step in range(STOPS[-1] + 1):
        if step in STOPS:
            with torch.no_grad():
                found.append((head(unroll(cell, asked).last.hidden).argmax(-1) == answers).double().mean().item())
        inputs, symbols = examples(64, lag, seed=step)
        loss = nn.functional.cross_entropy(head(unroll(cell, inputs).last.hidden), symbols)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return found


right = {name: [accuracies(make, lag) for lag in LAGS] for name, make in MODELS.items()}
far = {name: found[-1][-1] for name, found in right.items()}
for name, found in right.items():
    print(f"{name:16}", *(f"{one[-1]:6.2f}" for one in found))

# %%
LEARNED, ASKED = "What is learned across a gap", "Accuracy on new examples; a quarter is chance."
GAP = {
    LEARNED: "Lo que se aprende a través de un intervalo",
    ASKED: "Aciertos en ejemplos nuevos; un cuarto es azar.",
    "training step": "paso de entrenamiento",
    "steps of noise": "pasos de ruido",
    "accuracy": "aciertos",
    "LSTM, bias 0": "LSTM, sesgo 0",
    "LSTM, gate open": "LSTM, puerta abierta",
}


def learned(step):
    curves = {name: [one[STOPS.index(step)] for one in found] for name, found in right.items()}
    return Lines(curves, x=LAGS, across="steps of noise", up="accuracy", dots=True, y_limits=(0, 1))


LivePicture(learned, Slider("training step", STOPS, start=120), title=LEARNED, caption=ASKED, words={"es": GAP})

# %% [en]
# Over 5 steps all three learn. Over 40 the plain network, whose radius of 0.7 is that of a fresh layer, is right in {{far[RNN]:.0%}} of the cases,
# the LSTM with a half-open gate in {{far[LSTM, bias 0]:.0%}}, which is chance, and the same LSTM with an open gate in {{far[LSTM, gate open]:.0%}}. The plain network is
# a gamble: with another seed it may succeed at one distance and fail at the next. Between the two LSTMs nothing differs but one
# number at the start, and it decides what can be learned at all. That is why a forget bias of 1 or more is a common default (Gers
# et al., 2000). `atento look RUN --what gradients` draws the first picture for a model of yours, and names a remedy.
#
# ## Change one number
#
# Set `KEEP = 1.0` and run again: at which number of steps does the LSTM fail now? Then try 6. A gate that is always open forgets
# nothing, noise included.

# %% [es]
# Con 5 pasos aprenden las tres. Con 40, la red simple, cuyo radio de 0,7 es el de una capa nueva, acierta en el {{far[RNN]:.0%}} de los casos, la
# LSTM con la puerta medio abierta en el {{far[LSTM, bias 0]:.0%}}, que es el azar, y la misma LSTM con la puerta abierta en el {{far[LSTM, gate open]:.0%}}. La red
# simple es una apuesta: con otra semilla puede lograrlo a una distancia y fallar en la siguiente. Entre las dos LSTM no hay más
# diferencia que un número al comienzo, y ese número decide qué se puede aprender. Por eso un sesgo de olvido de 1 o más es un
# valor habitual (Gers et al., 2000). `atento look RUN --what gradients` dibuja la primera figura para un modelo suyo y nombra un
# remedio.
#
# ## Cambie un número
#
# Ponga `KEEP = 1.0` y ejecute de nuevo: ¿con cuántos pasos falla ahora la LSTM? Pruebe después con 6. Una puerta siempre abierta
# no olvida nada, tampoco el ruido.
