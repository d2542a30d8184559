// Lists beside the queue: rows that were chosen together, disputed labels, groups without a name.
import { count, make } from "./dom.js"

const brief = (row) => (row.texts[0] || row.cells[0] || ["", ""])[1].slice(0, 120) || `row ${row.id}`

// Ten of the chosen rows are looked at before all are labelled.
export function checkTen(rows, sample, classes, onLabel, onClose) {
  const list = make("datalist", { id: "names-all" }, ...classes.map((name) => make("option", { value: name })))
  const field = make("input", { list: "names-all", "aria-label": "Class for all", placeholder: "class for all of them", required: true })
  const box = make("input", { type: "checkbox", required: true, id: "checked" })
  const form = make("form", { class: "all", onsubmit: (event) => { event.preventDefault(); onLabel(field.value) } },
    list, field, make("label", {}, box, " I have looked at these"), make("button", { type: "submit", text: `Label all ${count(rows.length)}` }),
    make("button", { type: "button", text: "Cancel", onclick: onClose }))
  return make("section", { class: "chosen", "aria-label": "Chosen rows" }, make("h2", { text: `${count(rows.length)} rows chosen; ${sample.length} of them:` }),
    make("ol", {}, ...sample.map((row) => make("li", {}, make("bdi", { text: brief(row) }), row.guess ? make("small", {}, " (", make("bdi", { text: row.guess }), ")") : null))), form)
}

export function disputedList(items, onSettle, onShow) {
  if (!items.length) return make("p", { class: "soft", text: "No label is disputed." })
  return make("ul", { class: "disputed" }, ...items.slice(0, 50).map((item) => make("li", {},
    make("button", { type: "button", class: "link", onclick: () => onShow(item.row) }, "Row ", make("bdi", { text: item.id })), ": labelled ",
    make("bdi", { text: item.label }), item.by === "people" ? ", somebody else says " : ", the model says ", make("bdi", { text: item.other }), " ",
    make("button", { type: "button", onclick: () => onSettle(item.row, item.label) }, "Keep ", make("bdi", { text: item.label })),
    make("button", { type: "button", onclick: () => onSettle(item.row, item.other) }, "Take ", make("bdi", { text: item.other })))))
}

export function groupList(groups, onName) {
  if (!groups.length) return make("p", { class: "soft", text: "All rows are like labelled ones." })
  return make("ul", { class: "groups" }, ...groups.map((group) => make("li", {},
    make("b", { text: `${count(group.rows.length)} rows` }), " such as ",
    ...group.typical.slice(0, 3).flatMap((row) => [make("bdi", { text: brief(row) }), "; "]),
    make("button", { type: "button", text: "Look and name", onclick: () => onName(group.rows) }))))
}
