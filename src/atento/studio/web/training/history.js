// What the events of a run say, gathered in columns: charts, the gradient strip and the samples read these.

const MOST_POINTS = 400; // of a curve

/** The history of one run; `add` takes events in order and `clear` forgets them. */
export function makeHistory() {
  const history = {
    add(events) {
      events.forEach((event) => take(history, event));
    },
    clear() {
      Object.assign(history, { start: null, last: {}, finished: null, training: [], validations: [], gradients: [] });
    },
    /** Whether an event lies before what is known: the log was cut back, because training went on from a checkpoint. */
    goesBack: (events) => events.some((event) => event.event === "step" && event.step < (history.training.at(-1)?.step ?? 0)),
    get metrics() {
      return [...new Set(history.validations.flatMap((one) => Object.keys(one.metrics)))];
    },
  };
  history.clear();
  return history;
}

function take(history, event) {
  if (event.event === "start") history.start = event;
  if (event.event === "finished") history.finished = event;
  if (event.event === "step") {
    history.last = event;
    history.training.push({ step: event.step, epoch: event.epoch, elapsed: event.elapsed, loss: event.loss, "learning rate": event.learning_rate, "examples per second": event.examples_per_second });
    if (event.gradient_norms) history.gradients.push({ step: event.step, norms: event.gradient_norms });
  }
  if (event.event === "validation") {
    history.validations.push({ step: event.step, elapsed: event.elapsed, loss: event.validation_loss ?? null, metrics: event.metrics ?? {}, samples: event.samples ?? [] });
  }
}

/** The tables of a chart's series: "training" and "validation", in columns. */
export function tablesOf(history) {
  const validations = history.validations.map(({ step, elapsed, loss, metrics }) => ({ step, elapsed, "validation loss": loss, ...metrics }));
  const tables = { training: columnsOf(history.training, "loss"), validation: columnsOf(validations, history.metrics[0]) };
  return Object.fromEntries(Object.entries(tables).filter(([, table]) => table));
}

function columnsOf(points, by) {
  if (!points.length) return null;
  const keys = [...new Set(points.flatMap((point) => Object.keys(point)))];
  const kept = thinned(points, by);
  return Object.fromEntries(keys.map((key) => [key, kept.map((point) => (Number.isFinite(point[key]) ? point[key] : null))]));
}

/** At most so many points: the first, the last, and of equal stretches the least and the greatest, so that no peak is lost. */
export function thinned(points, by, most = MOST_POINTS) {
  if (points.length <= most) return points;
  const stretches = Math.floor((most - 2) / 2);
  const kept = new Set([0, points.length - 1]);
  for (let at = 0; at < stretches; at += 1) {
    const [from, to] = [Math.floor((at * points.length) / stretches), Math.floor(((at + 1) * points.length) / stretches)];
    let [least, largest] = [null, null];
    for (let place = from; place < to; place += 1) {
      const value = points[place][by];
      if (!Number.isFinite(value)) continue;
      if (least === null || value < points[least][by]) least = place;
      if (largest === null || value > points[largest][by]) largest = place;
    }
    [least, largest].forEach((place) => place !== null && kept.add(place));
  }
  return [...kept].sort((one, other) => one - other).map((place) => points[place]);
}
