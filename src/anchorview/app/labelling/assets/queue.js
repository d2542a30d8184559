// One row to label: what it holds, the model's guess, and a button for each class.
import { colourOf, css, make, percent } from "./dom.js"

const KEYS = "1234567890"
export const keyOf = (place) => place < 10 ? KEYS[place] : place < 20 ? `⇧${KEYS[place - 10]}` : ""

// The row in a few words, for lists and for screen readers.
export const brief = (row, length = 120) => {
  const text = (row.texts[0] || row.cells[0] || ["", ""])[1] || (row.picture ? "picture" : `row ${row.id}`)
  return text.length > length ? `${text.slice(0, length)}…` : text
}

export function rowContent(row, picture) {
  const parts = []
  if (row.picture) parts.push(picture(row.row))
  for (const [name, text] of row.texts) parts.push(make("figure", {}, make("figcaption", { text: name }), make("blockquote", { text })))
  if (row.cells.length) {
    parts.push(make("div", { class: "cells", tabindex: row.cells.length > 8 ? "0" : null, role: "group", "aria-label": "Cells" },
      make("table", {}, ...row.cells.map(([name, text]) => make("tr", {}, make("th", { scope: "row", text: name }), make("td", { text }))))))
  }
  for (const [name, link] of row.links) {
    parts.push(make("p", { class: "link" }, `${name}: `, make("a", { href: link, target: "_blank", rel: "noopener noreferrer", text: link })))
  }
  if (!parts.length) parts.push(make("p", { class: "soft", text: "This row has nothing to show: look for it by its id where it comes from." }))
  return parts
}

export function guessLine(row, hidden) {
  if (row.label !== null && row.label !== undefined) return make("p", { class: "guess" }, "Labelled ", make("b", {}, make("bdi", { text: row.label })), "; another class replaces it")
  if (row.blind || hidden || row.guess === null) return make("p", { class: "guess soft", text: hidden && !row.blind ? "Guesses are hidden (g shows them)." : "No guess for this row." })
  return make("p", { class: "guess" }, "The model says ", make("b", {}, make("bdi", { text: row.guess })), make("meter", { min: 0, max: 1, value: row.confidence, "aria-hidden": "true" }),
    ` ${percent(row.confidence)} `, make("span", { class: "keys" }, make("kbd", { text: "a" }), " accepts"))
}

export function classButtons(classes, guess, onLabel, dark) {
  return classes.map((name, place) => {
    const dot = make("i", { class: "dot" })
    dot.style.background = css(colourOf(place, dark))
    const key = keyOf(place)
    return make("button", { type: "button", class: name === guess ? "likely" : null, "aria-keyshortcuts": key || null, onclick: () => onLabel(name) },
      dot, make("bdi", { text: name }), key ? make("kbd", { "aria-hidden": "true", text: key }) : null)
  })
}
