# %% [en]
# # One vector for a whole sentence
#
# Asked to repeat numbers of {{LONG}} digits, a network that keeps one vector gets {{without:.0%}} of them right; with attention the same network gets {{with_attention:.0%}}.
#
# Somebody reads a telephone number to you, and you repeat it. Three digits are easy. With ten you wish you could look at the paper
# again. The first networks that translated (Sutskever et al., 2014; Cho et al., 2014) never could: an encoder reads the whole
# sentence, one vector of fixed size is handed over, and a decoder writes the translation from that vector alone. However long
# the sentence, the vector has the same size. Attention (Bahdanau et al., 2015) is the permission to look at the paper again.

# %% [es]
# # Un solo vector para toda una frase
#
# Ante números de {{LONG}} cifras que hay que repetir, una red que guarda un solo vector acierta el {{without:.0%}}; con atención, la misma red acierta el {{with_attention:.0%}}.
#
# Alguien le lee un número de teléfono y usted lo repite. Tres cifras son fáciles. Con diez, querría volver a mirar el papel. Las
# primeras redes que tradujeron (Sutskever et al., 2014; Cho et al., 2014) no podían: un codificador lee la frase entera, se
# entrega un vector de tamaño fijo y un decodificador escribe la traducción solo a partir de ese vector. Por larga que sea la
# frase, el vector tiene el mismo tamaño. La atención (Bahdanau et al., 2015) es el permiso para volver a mirar el papel.

# %%
import torch
from torch import nn

from atento.attention import Additive, Attention, Everything, Softmax
from atento.recurrent import GRU
from atento.views.live import Cells, Lines, LivePicture, Note, Slider

torch.set_default_dtype(torch.float64)  # the same numbers on every machine
HIDDEN = 32  # change me: the size of the one vector
DIGITS, LONGEST, SIZE = 10, 12, 16


class Repeater(nn.Module):
    """An encoder and a decoder; without attention the final state of the encoder is all that the decoder gets."""

    def __init__(self, *, attention):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS + 1, SIZE)  # the last one says: begin
        self.encoder, self.decoder = GRU(SIZE, HIDDEN), GRU(SIZE, HIDDEN)
        score = Additive(HIDDEN, HIDDEN, hidden_size=HIDDEN)
        self.attention = Attention(score, Softmax(), Everything()) if attention else None
        self.output = nn.Linear(2 * HIDDEN if attention else HIDDEN, DIGITS)

    def forward(self, digits):
        """Digits (B, T) -> logits (B, T, DIGITS) of each digit, given the true ones before it (teacher forcing)."""
        before = torch.cat([torch.full_like(digits[:, :1], DIGITS), digits[:, :-1]], dim=1)
        memory, vector = self.encoder(self.embedding(digits))  # (B, T, HIDDEN), (1, B, HIDDEN)
        states, _ = self.decoder(self.embedding(before), state=vector)
        if self.attention is not None:
            seen = self.attention(states, memory, memory, valid=torch.ones_like(digits, dtype=torch.bool))
            states = torch.cat([states, seen], dim=-1)
        return self.output(states)


# %% [en]
# The two networks differ in three lines. Both train on the same random numbers of 1 to {{LONGEST}} digits. As a test we count exact
# matches: a number is right when every digit of it is. Numbers of more than {{LONGEST}} digits are longer than any seen in training.

# %% [es]
# Las dos redes se diferencian en tres líneas. Ambas se entrenan con los mismos números aleatorios de 1 a {{LONGEST}} cifras. Como
# prueba contamos coincidencias exactas: un número es correcto si lo son todas sus cifras. Los números de más de {{LONGEST}} cifras
# son más largos que cualquiera de los vistos en el entrenamiento.

# %%
STOPS, LENGTHS = [0, 50, 100, 150, 200, 250, 300, 400, 500], list(range(1, 15))


def numbers(count, length, draw):
    return torch.randint(DIGITS, (count, length), generator=draw)


def learn(network):
    """Train, and at each stop count exact matches by length and keep the probabilities for one number."""
    draw, optimizer = torch.Generator().manual_seed(1), torch.optim.Adam(network.parameters(), lr=0.01)
    tests = [numbers(100, length, torch.Generator().manual_seed(length)) for length in LENGTHS]
    matches = []
    for step in range(STOPS[-1] + 1):
        if step in STOPS:
            with torch.no_grad():
                right = [(network(test).argmax(-1) == test).all(dim=1).double().mean().item() for test in tests]
            matches.append(right)
        digits = numbers(64, int(torch.randint(1, LONGEST + 1, (1,), generator=draw)), draw)
        loss = nn.functional.cross_entropy(network(digits).flatten(0, 1), digits.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network, matches


torch.manual_seed(0)
plain, plain_matches = learn(Repeater(attention=False))
attentive, attentive_matches = learn(Repeater(attention=True))
LONG = 8
without, with_attention = plain_matches[-1][LONG - 1], attentive_matches[-1][LONG - 1]

# %%
TITLE, CAPTION = (
    "Exact matches by length",
    "Share of numbers repeated without a mistake. Right of the line: longer than in training.",
)
NOTE = "after {step} steps, numbers of 8 digits: {a:.0%} with one vector, {b:.0%} with attention"
WORDS = {
    TITLE: "Aciertos exactos según la longitud",
    CAPTION: "Proporción de números repetidos sin error. A la derecha de la línea: más largos que en el entrenamiento.",
    NOTE: "tras {step} pasos, números de 8 cifras: {a:.0%} con un vector, {b:.0%} con atención",
    "training step": "paso de entrenamiento", "digits": "cifras", "exact matches": "aciertos exactos",
    "one vector": "un vector", "with attention": "con atención", "number": "número", "length": "longitud",
}  # fmt: skip


def by_length(step):
    one, other = plain_matches[STOPS.index(step)], attentive_matches[STOPS.index(step)]
    curves = {"one vector": one, "with attention": other}
    chart = Lines(
        curves, x=LENGTHS, across="digits", up="exact matches", dots=True, cursor=LONGEST + 0.5, y_limits=(0, 1)
    )
    return [chart, Note(NOTE, step=step, a=one[7], b=other[7])]


LivePicture(by_length, Slider("training step", STOPS, start=500), title=TITLE, caption=CAPTION, words={"es": WORDS})

# %% [en]
# Both learn short numbers. Then the curve of the network with one vector falls like a stone: every digit more has to share the same
# {{HIDDEN}} numbers with all the others. With attention the curve bends down slowly, and it goes on beyond the longest number of
# the training.
#
# Which digits are lost? Here is one number, cut after 2, 3, … digits. The shade of a cell is the probability that the network gave
# to the right digit.

# %% [es]
# Ambas aprenden los números cortos. Después, la curva de la red con un vector cae en picado: cada cifra más tiene que compartir los
# mismos {{HIDDEN}} números con todas las demás. Con atención, la curva baja despacio y continúa más allá del número más largo
# del entrenamiento.
#
# ¿Qué cifras se pierden? He aquí un número, cortado tras 2, 3, … cifras. El tono de una celda es la probabilidad que la red dio a
# la cifra correcta.

# %%
PHONE = torch.tensor([[4, 8, 1, 5, 1, 6, 2, 3, 4, 2, 9, 7]])
ONE, READ = (
    "One number, longer and longer",
    "Texts: the digit that each network says. Shades: the probability of the right one.",
)
SHOWN = WORDS | {
    ONE: "Un número, cada vez más largo",
    READ: "Textos: la cifra que dice cada red. Tonos: la probabilidad de la correcta.",
}


def one_number(length):
    digits = PHONE[:, :length]
    texts, shades = {"number": [str(digit.item()) for digit in digits[0]]}, {}
    for name, network in (("one vector", plain), ("with attention", attentive)):
        with torch.no_grad():
            chances = network(digits)[0].softmax(-1)  # (T, DIGITS)
        texts[name] = [str(digit.item()) for digit in chances.argmax(-1)]
        shades[name] = chances[range(length), digits[0]]
    return Cells(texts, shades, limits=(0, 1))


LivePicture(one_number, Slider("length", list(range(2, 13)), start=10), title=ONE, caption=READ, words={"es": SHOWN})

# %% [en]
# The vector is not full in the sense of a cupboard, in which the last things find no place. It holds a picture of everything that
# becomes more blurred with each digit: as the number grows, cells all along the row turn pale.
#
# ## Change one number
#
# Set `HIDDEN = 16`, then 64, then 128. With a larger vector the falling curve moves to the right by a digit or so, and it falls all
# the same: size postpones the problem. The curve with attention hardly asks for the size of the vector.

# %% [es]
# El vector no está lleno como un armario en el que las últimas cosas no caben. Guarda una imagen de todo que se vuelve más borrosa
# con cada cifra: al crecer el número palidecen celdas a lo largo de toda la fila.
#
# ## Cambie un número
#
# Ponga `HIDDEN = 16`, después 64, después 128. Con un vector mayor, la curva que cae se desplaza una cifra o así a la derecha, y cae
# de todos modos: el tamaño aplaza el problema. La curva con atención apenas depende del tamaño del vector.
