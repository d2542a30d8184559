// The figures above the page, in words that say what they rest on.
import { count, make, percent } from "./dom.js"

const RESTS = { audit: "rows drawn at random", hidden: "hidden labels, which were not drawn at random: it may be off by some points" }

export function figures(overview) {
  const { accuracy, trusted, gain, agreement } = overview
  const shown = [["Labels", count(overview.n_labels), `of ${count(overview.rows)} rows; ${count(overview.n_yours)} answers of yours`]]
  shown.push(accuracy
    ? ["Expected accuracy", percent(accuracy.share, 1), `${percent(accuracy.low)} to ${percent(accuracy.high)}; from ${accuracy.n} ${RESTS[accuracy.rests_on]}`]
    : ["Expected accuracy", "–", "two labels in each of two classes will tell"])
  shown.push(["Changed", overview.share_changed === null ? "–" : percent(overview.share_changed, 1), "of the rows, by the last update"])
  shown.push(["Next 50 labels", gain === null ? "–" : `+${(100 * gain).toFixed(1)}`, gain === null ? "cannot tell yet" : "points of accuracy, if it goes on like this"])
  shown.push(["Trusted rows", trusted.n_rows ? count(trusted.n_rows) : "–", trusted.n_rows
    ? `right in ${percent(trusted.target)} of cases or more` : `${trusted.n_more === null ? "some" : trusted.n_more} more random labels needed for ${percent(trusted.target)}`])
  if (agreement.n_rows) {
    shown.push(["Agreement", percent(agreement.share), `on ${agreement.n_rows} rows labelled twice${agreement.kappa === null ? "" : `; κ ${agreement.kappa.toFixed(2)}`}`])
  }
  return make("dl", { class: "figures" }, ...shown.map(([name, value, about]) =>
    make("div", {}, make("dt", { text: name }), make("dd", {}, make("b", { text: value }), make("small", { text: about })))))
}
