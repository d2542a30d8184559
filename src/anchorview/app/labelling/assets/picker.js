// A field to find a class by typing: Enter takes the marked match, and what matches nothing is a new class.
import { make } from "./dom.js"

const MOST = 8
let serial = 0 // ids must differ: a page may hold several fields

export function matches(classes, text) {
  const wanted = text.trim().toLowerCase()
  const place = (name) => {
    const lower = name.toLowerCase(), at = lower.indexOf(wanted)
    return lower === wanted ? 0 : at === 0 ? 1 : at > 0 ? 2 : 3 // the same, begins so, holds it
  }
  const listed = classes.map((name, number) => [place(name), number, name]).filter(([rank]) => rank < 3)
  return listed.sort((one, other) => one[0] - other[0] || one[1] - other[1]).slice(0, MOST).map(([, , name]) => name)
}

export function classPicker({ classes, onPick, label, verb = "Label" }) {
  const id = `class-picker-${++serial}`
  const field = make("input", { type: "text", role: "combobox", autocomplete: "off", placeholder: label, "aria-label": label, maxlength: 200,
    "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list" })
  const list = make("ul", { id, role: "listbox", class: "options", hidden: true, "aria-label": "Classes" })
  let options = [], marked = 0

  const close = () => { list.hidden = true; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant") }
  const clear = () => { field.value = ""; close() }
  const pick = ({ name }) => { if (onPick(name) !== false) clear(); else { field.value = name; close() } }
  const mark = (place) => {
    marked = (place + options.length) % options.length
    for (const [number, item] of [...list.children].entries()) item.setAttribute("aria-selected", String(number === marked))
    field.setAttribute("aria-activedescendant", `${id}-${marked}`)
  }
  const open = () => {
    const text = field.value.trim(), found = matches(classes(), text)
    options = found.map((name) => ({ name }))
    if (text && !classes().includes(text)) options.push({ name: text, isNew: true })
    if (!options.length) { close(); return }
    list.replaceChildren(...options.map(({ name, isNew }, number) => make("li", { role: "option", id: `${id}-${number}`, onmousedown: (event) => { event.preventDefault(); pick(options[number]) } },
      isNew ? "New class: " : null, make("bdi", { text: name }))))
    list.hidden = false
    field.setAttribute("aria-expanded", "true")
    mark(0)
  }
  field.addEventListener("input", open)
  field.addEventListener("focus", open)
  field.addEventListener("blur", close)
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); if (list.hidden) open(); else mark(marked + (event.key === "ArrowDown" ? 1 : -1)) }
    else if (event.key === "Enter") { event.preventDefault(); if (!list.hidden && options.length && field.value.trim()) pick(options[marked]) }
    else if (event.key === "Escape" && !list.hidden && field.value) { event.stopPropagation(); clear() }
  })
  const element = make("div", { class: "picker" }, make("div", { class: "options-box" }, field, list),
    verb ? make("button", { type: "button", text: verb, onclick: () => { if (field.value.trim()) { open(); pick(options[0]) } else field.focus() } }) : null)
  return { element, field, clear }
}
