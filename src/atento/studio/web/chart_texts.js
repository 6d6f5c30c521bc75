// The words of the report's charts in the language of the page.

export function chartTexts(words) {
  return {
    show: words("chart.show"), against: words("chart.against"), vertical: words("chart.vertical"), horizontal: words("chart.horizontal"),
    logX: words("chart.log_x"), logY: words("chart.log_y"), smoothing: words("chart.smoothing"), smoothed: words("chart.smoothed"),
    reset: words("chart.reset"), copyOrSave: words("chart.copy_or_save"), copy: words("chart.copy"), save: words("chart.save"), copied: words("chart.copied"),
    front: words("chart.front"), training: words("chart.training"), step: words("chart.step"), hint: words("chart.hint"),
    seconds: words("chart.seconds"), minutes: words("chart.minutes"), hours: words("chart.hours"), of: words("chart.of"), timeOf: words("chart.time_of"),
  };
}
