// One row to label: what it holds, the model's guess, and a button for each class.
import { colourOf, css, make, percent } from "./dom.js"

const KEYS = "1234567890"
export const keyOf = (place) => place < 10 ? KEYS[place] : place < 20 ? `⇧${KEYS[place - 10]}` : ""

export function rowContent(row, picture) {
  const parts = [make("p", { class: "soft" }, "Row ", make("bdi", { text: row.id }))]
  if (row.picture) parts.push(picture(row.row))
  for (const [name, text] of row.texts) parts.push(make("blockquote", { title: name, text }))
  if (row.cells.length) {
    parts.push(make("table", {}, ...row.cells.map(([name, text]) => make("tr", {}, make("th", { scope: "row", text: name }), make("td", { text })))))
  }
  for (const [name, link] of row.links) {
    parts.push(make("p", {}, make("a", { href: link, target: "_blank", rel: "noopener noreferrer", text: `${name}: ${link}` })))
  }
  return parts
}

export function guessLine(row, hidden) {
  if (row.label !== null && row.label !== undefined) return make("p", { class: "guess" }, "Label: ", make("bdi", { text: row.label }))
  if (row.blind || hidden || row.guess === null) return make("p", { class: "guess soft", text: hidden && !row.blind ? "The guess is hidden." : "No guess is shown for this row." })
  return make("p", { class: "guess" }, "The model says ", make("b", {}, make("bdi", { text: row.guess })), ` (${percent(row.confidence)}) `, make("kbd", { text: "a" }), " accepts")
}

export function classButtons(classes, guess, onLabel, dark) {
  return make("div", { class: "classes", role: "group", "aria-label": "Classes" }, ...classes.map((name, place) => {
    const dot = make("i", { class: "dot" })
    dot.style.background = css(colourOf(place, dark))
    const key = keyOf(place)
    return make("button", { type: "button", class: name === guess ? "likely" : null, onclick: () => onLabel(name) },
      dot, make("bdi", { text: name }), key ? make("kbd", { text: key }) : null)
  }))
}
