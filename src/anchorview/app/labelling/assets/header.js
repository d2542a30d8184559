// The figures above the page, in words that say what they rest on.
import { count, make, percent } from "./dom.js"

const points = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`

function accuracyOf({ accuracy, judging }) {
  if (!accuracy) return ["–", "needs two labels in each of two classes"]
  const ends = `${percent(accuracy.low)} to ${percent(accuracy.high)}`
  const rest = accuracy.rests_on === "audit"
    ? `from ${count(accuracy.n)} rows drawn at random${accuracy.n_skipped ? `, ${accuracy.n_skipped} more skipped` : ""}`
    : `from ${count(accuracy.n)} labels hidden in turn; the rows were not drawn at random, so it is often too low`
  return [percent(accuracy.value, 1), `${ends}; ${rest}${judging ? " (being judged again)" : ""}`]
}

function trustedOf({ trusted, rows }) {
  const target = percent(trusted.target)
  if (trusted.n_rows) return [count(trusted.n_rows), `${percent(trusted.n_rows / rows)} of all; at least ${target} of them are right`]
  return ["–", trusted.n_more === null ? `for a promise of ${target}, label some more` : `${count(trusted.n_more)} more random rows, if right, for a promise of ${target}`]
}

export function figures(overview) {
  const { gain, agreement, share_changed: changed } = overview
  const others = Object.keys(overview.people).length > 1 ? `; ${count(overview.n_yours)} by you` : ""
  const shown = [
    ["Labels", count(overview.n_labels), `of ${count(overview.rows)} rows${others}${overview.n_skipped ? `; ${count(overview.n_skipped)} skipped` : ""}`],
    ["Expected accuracy", ...accuracyOf(overview)],
    ["Changed", changed === null ? "–" : percent(changed, 1), "of the rows, by the last update"],
    ["Next 50 labels", gain === null ? "–" : points(gain), gain === null ? "too early to tell" : "points of accuracy expected"],
    ["Trusted rows", ...trustedOf(overview)],
  ]
  if (agreement.n_rows) shown.push(["Agreement", percent(agreement.share), `of ${count(agreement.n_rows)} rows labelled twice${agreement.kappa === null ? "" : `; κ ${agreement.kappa.toFixed(2)}`}`])
  return make("dl", { class: "figures" }, ...shown.map(([name, value, about]) =>
    make("div", {}, make("dt", { text: name }), make("dd", {}, make("b", { text: value }), make("small", { text: about })))))
}
