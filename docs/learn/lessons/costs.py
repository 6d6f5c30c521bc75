# %% [en]
# # What attention costs
#
# Attention compares every word with every other: twice the words, four times the products. A recurrent network pays for
# each word once, but the words must wait for one another.
#
# This page counts both, shows where each is cheaper, and what windows, low ranks and random features change. Nothing is
# trained here, and nothing is timed by a stopwatch: products are counted, so every machine gets the same numbers.
# %% [es]
# # Lo que cuesta la atención
#
# La atención compara cada palabra con todas las demás: el doble de palabras, el cuádruple de productos. Una red
# recurrente paga cada palabra una sola vez, pero las palabras tienen que esperarse unas a otras.
#
# Esta página cuenta las dos cosas, muestra dónde es más barata cada una y qué cambian las ventanas, los rangos bajos y
# los rasgos aleatorios. Aquí no se entrena nada ni se mide con un cronómetro: se cuentan productos, así que todas las
# máquinas obtienen los mismos números.
# %% [en]
# ## Counting products
#
# Five layers read n vectors of {{SIZE}} numbers. PyTorch counts the products of one pass while n doubles.
# %% [es]
# ## Contar productos
#
# Cinco capas leen n vectores de {{SIZE}} números. PyTorch cuenta los productos de una pasada mientras n se duplica.
# %%
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from atento.attention import (
    Attention,
    Everything,
    Kernel,
    Linformer,
    Proportional,
    RandomFeatures,
    ScaledDot,
    Softmax,
    Window,
)
from atento.recurrent import ElmanCell, Stack
from atento.views.live import Bars, HeatMap, Lines, LivePicture, Note, Slider

SIZE = 64  # change me: numbers of each vector
REACH = 16  # change me: words that a window sees on each side
RANK = 16  # change me: rows of Linformer's projection, and random features

torch.manual_seed(0)


def layers(length):
    dense = Attention(ScaledDot(), Softmax(), Everything())
    features = Attention(Kernel(RandomFeatures(SIZE, count=RANK)), Proportional(), Everything())
    network = Stack(ElmanCell, SIZE, SIZE)
    return {
        "full attention": dense,
        "window": Attention(ScaledDot(), Softmax(), Window(REACH)),
        "Linformer": Linformer(dense, length, RANK),
        "random features": features,
        "recurrent": lambda query, key, value: network(value).outputs,
    }


def products(layer, length):  # multiply-adds of one pass over one sequence
    rows = torch.randn(3, 1, length, SIZE)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(*rows)
    return counter.get_total_flops() // 2


LENGTHS = [32, 64, 128, 256, 512, 1024, 2048]
counted = {name: [] for name in layers(LENGTHS[0])}
for length in LENGTHS:
    for name, layer in layers(length).items():
        counted[name].append(products(layer, length))
growth = {name: costs[-1] / costs[-2] for name, costs in counted.items()}  # from 1024 to 2048 words
for name, costs in counted.items():
    print(f"{name:16}", *(f"{cost / 1e6:9.2f}" for cost in costs), f"  ×{growth[name]:.2f}")
# %%
SPANISH = {
    **{"full attention": "atención completa", "window": "ventana", "random features": "rasgos aleatorios"},
    **{"recurrent": "recurrente", "words": "palabras", "products": "productos"},
    **{"What a pass over n words costs": "Lo que cuesta una pasada por n palabras"},
    "{length} words: full attention {dense:.1f} million products, recurrent {recurrent:.1f}: {ratio:.2f} times.": (
        "{length} palabras: atención completa {dense:.1f} millones de productos, recurrente {recurrent:.1f}: "
        "{ratio:.2f} veces."
    ),
}


def costs(length):
    at = LENGTHS.index(length)
    dense, recurrent = counted["full attention"][at], counted["recurrent"][at]
    said = "{length} words: full attention {dense:.1f} million products, recurrent {recurrent:.1f}: {ratio:.2f} times."
    numbers = {"length": length, "dense": dense / 1e6, "recurrent": recurrent / 1e6, "ratio": dense / recurrent}
    look = {"across": "words", "up": "products", "log_x": True, "log_y": True, "dots": True}
    return [Lines(counted, x=LENGTHS, cursor=length, **look), Note(said, **numbers)]


title = "What a pass over n words costs"
hero = LivePicture(costs, Slider("words", LENGTHS, 1024), title=title, words={"es": SPANISH})
hero
# %% [en]
# From {{LENGTHS[5]}} to {{LENGTHS[6]}} words full attention costs {{growth[full attention]:.2f}} times as much; the
# window {{growth[window]:.2f}}, Linformer {{growth[Linformer]:.2f}}, random features {{growth[random features]:.2f}}
# and the recurrent network {{growth[recurrent]:.2f}} times.
#
# The formulas say why. Each of the n² pairs of words needs d products for its score and d for its part of the sum:
# 2 n² d. A recurrent step multiplies a vector by two matrices of d²: 2 n d². They are equal at **n = d**: below
# {{SIZE}} words attention is the cheaper of the two, above it the recurrent network. Models of today have d in the
# thousands, so that whole pages of text are short to them.
# %% [es]
# De {{LENGTHS[5]}} a {{LENGTHS[6]}} palabras la atención completa cuesta {{growth[full attention]:.2f}} veces más; la
# ventana {{growth[window]:.2f}}, Linformer {{growth[Linformer]:.2f}}, los rasgos aleatorios
# {{growth[random features]:.2f}} y la red recurrente {{growth[recurrent]:.2f}} veces más.
#
# Las fórmulas dicen por qué. Cada uno de los n² pares de palabras necesita d productos para su puntuación y d para su
# parte de la suma: 2 n² d. Un paso recurrente multiplica un vector por dos matrices de d²: 2 n d². Coinciden en
# **n = d**: por debajo de {{SIZE}} palabras es más barata la atención; por encima, la red recurrente. Los modelos de hoy
# tienen d en los miles, de modo que para ellos páginas enteras son textos cortos.
# %%
equal = [name for name in ("full attention", "recurrent") if counted[name][1] == 2 * 64 * SIZE * 64]
print("at n = d both need", f"{2 * 64 * SIZE * 64:,}", "products:", ", ".join(equal))
# %% [en]
# ## What has to wait
#
# Products are not time. A machine that does thousands of products at once is held up by what must come one after the
# other. A recurrent network has n steps in a row. Attention has one, whatever n is. And the same chain is the way that a
# signal, or a gradient, travels from the first word to the last.
#
# Below, how many steps lie between two words in one layer, from few (light) to many (dark), and none where no way exists.
# %% [es]
# ## Lo que tiene que esperar
#
# Los productos no son tiempo. A una máquina que hace miles de productos a la vez la frena lo que debe ir uno tras otro.
# Una red recurrente tiene n pasos seguidos. La atención tiene uno, sea cual sea n. Y esa misma cadena es el camino por
# el que una señal, o un gradiente, viaja de la primera palabra a la última.
#
# Abajo se ve cuántos pasos hay entre dos palabras en una capa, de pocos (claro) a muchos (oscuro), y nada donde no hay
# camino.
# %%
PLACES = 24
apart = (torch.arange(PLACES) - torch.arange(PLACES).unsqueeze(1)).abs().double()  # |query - key|
before = torch.arange(PLACES) <= torch.arange(PLACES).unsqueeze(1)
paths = {
    "full attention": torch.ones(PLACES, PLACES),
    "window": torch.where(apart <= 4, 1.0, torch.nan),
    "recurrent": torch.where(before, apart + 1, torch.nan),
}
WAYS = {
    **{"full attention": "atención completa", "window": "ventana", "recurrent": "recurrente", "layer": "capa"},
    **{"place of the word that is read": "lugar de la palabra leída", "place of the reader": "lugar de quien lee"},
    **{"Steps from one word to another": "Pasos de una palabra a otra"},
    "The longest way has {longest:.0f} steps; {share:.0%} of the pairs of words are connected.": (
        "El camino más largo tiene {longest:.0f} pasos; está conectado el {share:.0%} de los pares de palabras."
    ),
}


def ways(layer):
    steps = paths[layer]
    reached = ~steps.isnan()
    said = "The longest way has {longest:.0f} steps; {share:.0%} of the pairs of words are connected."
    names = {"across": "place of the word that is read", "up": "place of the reader", "title": layer}
    note = Note(said, longest=steps[reached].max(), share=reached.double().mean())
    return [HeatMap(steps, limits=(0, PLACES), **names), note]


title = "Steps from one word to another"
LivePicture(ways, Slider("layer", list(paths), "recurrent"), title=title, words={"es": WAYS})
# %% [en]
# A window saves products and gives up distant pairs; several layers of it win them back, as a few stones cross a river.
#
# ## Why decoders keep their keys
#
# A model that writes goes word by word. Without a memory it reads everything again for each new word: the t-th word costs
# t² d. But the keys and values of the old words have not changed. With a **cache** only the new query is compared with
# them: t d.
# %% [es]
# Una ventana ahorra productos y renuncia a los pares lejanos; varias capas los recuperan, como unas pocas piedras cruzan
# un río.
#
# ## Por qué los decodificadores guardan sus claves
#
# Un modelo que escribe va palabra por palabra. Sin memoria lo lee todo de nuevo para cada palabra: la t-ésima cuesta
# t² d. Pero las claves y los valores de las palabras anteriores no han cambiado. Con una **caché** solo se compara con
# ellos la nueva consulta: t d.
# %%
WRITTEN = 256  # change me: words of an answer
steps = torch.arange(1, WRITTEN + 1, dtype=torch.float64)
again, cached = 2 * steps**2 * SIZE, 2 * steps * SIZE
saved = (again.sum() / cached.sum()).item()
kept = 2 * WRITTEN * SIZE  # numbers in the cache: a key and a value for each word
STOPS = [2**power for power in range(1, 9)]
CACHE = {
    **{"without a cache": "sin caché", "with a cache": "con caché", "words written": "palabras escritas"},
    **{"products": "productos", "all products so far": "productos hasta aquí"},
    **{"What the next word costs": "Lo que cuesta la palabra siguiente"},
    "An answer of {words} words: {ratio:.0f} times fewer products with a cache of {kept} numbers.": (
        "Una respuesta de {words} palabras: {ratio:.0f} veces menos productos con una caché de {kept} números."
    ),
}


def writing(words):
    both = {"without a cache": again, "with a cache": cached}
    look = {"across": "words written", "up": "products", "log_y": True, "cursor": words}
    sums = {"all products so far": [cost[:words].sum() for cost in both.values()]}
    said = "An answer of {words} words: {ratio:.0f} times fewer products with a cache of {kept} numbers."
    numbers = {"ratio": again[:words].sum() / cached[:words].sum(), "kept": 2 * words * SIZE, "words": words}
    return [Lines(both, **look), Bars(list(both), sums, up="products"), Note(said, **numbers)]


title = "What the next word costs"
LivePicture(writing, Slider("words written", STOPS, 64), title=title, words={"es": CACHE})
# %% [en]
# For {{WRITTEN}} words the cache saves a factor of {{saved:.0f}}, which is (2n + 1) / 3. The price is memory: {{kept}}
# numbers here, for each layer, and growing with every word; a recurrent network carries {{SIZE}} numbers, however long
# the text is. That is the whole trade: **attention remembers everything and pays for it, recurrence pays little and must
# choose what to keep.**
#
# ## Change one number
#
# - `SIZE = 512`: where is attention cheaper now? Up to 512 words, if the formula is right.
# - `REACH = 64`: how much of the saving of a window is left at 128 words?
# - `WRITTEN = 1024`: what does the cache save, and how much must it keep?
#
# The table with exponents, bytes and seconds of eleven kinds: `python benchmarks/cost_table.py`.
# %% [es]
# Para {{WRITTEN}} palabras la caché ahorra un factor de {{saved:.0f}}, que es (2n + 1) / 3. El precio es memoria:
# {{kept}} números aquí, por cada capa, y crece con cada palabra; una red recurrente lleva {{SIZE}} números, por largo que
# sea el texto. Ese es todo el trato: **la atención lo recuerda todo y lo paga; la recurrencia paga poco y tiene que
# elegir qué guardar.**
#
# ## Cambie un número
#
# - `SIZE = 512`: ¿dónde es ahora más barata la atención? Hasta 512 palabras, si la fórmula es cierta.
# - `REACH = 64`: ¿cuánto queda del ahorro de una ventana con 128 palabras?
# - `WRITTEN = 1024`: ¿qué ahorra la caché, y cuánto tiene que guardar?
#
# La tabla con exponentes, bytes y segundos de once clases: `python benchmarks/cost_table.py`.
