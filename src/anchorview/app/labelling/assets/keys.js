// Every key, the dialog that lists them, and the one that asks for a name.
import { make } from "./dom.js"

const HELP = [["1–9, 0", "label with one of the first ten classes"], ["⇧ and a digit", "with one of the next ten"], ["a", "accept the model's guess"], ["/", "find a class by typing, or add one"],
  ["space", "skip"], ["u", "none of these classes"], ["f", "flag the row"], ["⌫", "undo"], ["g", "hide or show guesses"], ["i", "similar rows"], ["s", "search rows, then label all"],
  ["l", "lasso on the map (or hold ⇧ and draw)"], ["d", "disputed labels"], ["n", "unnamed groups"], ["e", "save labels, model or report"], ["h", "guidelines and keys"], ["Esc", "close"]]

export function keyWork(page, event) {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select, dialog")
  if (event.key === "Escape") {
    if (event.target.closest("dialog")) return null
    if (!page.chosen.hidden) return () => page.closeChosen()
    return () => { event.target.blur(); page.open() }
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return null
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code), asks = page.chosen.hidden // many rows are being checked: no key labels a single one
  if (digit && asks) {
    const place = (Number(digit[1]) + 9) % 10 + (event.shiftKey ? 10 : 0)
    return () => page.answers.label(page.overview.classes[place])
  }
  if (event.key === " ") return asks && !event.target.closest("button, summary, a, input") ? () => page.answers.answer("skip") : null
  const works = { h: () => page.help.showModal(), "?": () => page.help.showModal(), s: () => page.search.focus(), l: () => page.toggleLasso(),
    d: () => page.open("disputed"), n: () => page.open("groups"), e: () => page.open("save") }
  const ofRow = { Backspace: () => page.answers.undo(), u: () => page.answers.answer("none"), f: () => page.answers.flag(), i: () => page.open("similar"), "/": () => page.picker.field.focus(),
    a: () => page.row && !page.row.blind && !page.hideGuess && page.answers.label(page.row.guess), g: () => { page.hideGuess = !page.hideGuess; page.showRow(page.row) } }
  return works[event.key] || (asks ? ofRow[event.key] : null)
}

const close = () => make("form", { method: "dialog" }, make("button", { text: "Close" }))

export function helpDialog(guidelines) {
  return make("dialog", { "aria-label": "Guidelines and keys" },
    ...(guidelines ? [make("h2", { text: "Guidelines" }), make("p", { class: "guidelines", text: guidelines })] : []),
    make("h2", { text: "Keys" }),
    make("table", {}, ...HELP.map(([key, what]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", { text: key })), make("td", { text: what })))),
    make("p", { class: "soft", text: "One row in five is drawn at random and shown without the model's guess: only such rows say how accurate it is. To label together, others open the same address in a browser of their own and change the name." }),
    close())
}

export function nameDialog(who, onName) {
  const field = make("input", { value: who, "aria-label": "Your name", maxlength: 60, required: true })
  return make("dialog", { "aria-label": "Your name" }, make("h2", { text: "Your name" }), make("p", { class: "soft", text: "It is kept with every label. Rows are dealt to each person apart, and one in twenty goes to a second one." }),
    make("form", { method: "dialog", class: "find", onsubmit: () => { const name = field.value.trim(); if (name && name !== who) onName(name) } }, field, make("button", { text: "Use it" })))
}
