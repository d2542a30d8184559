// What opens below the row: similar rows, disputed labels, groups without a name, files; and the check before many rows get one label.
import { count, make, percent } from "./dom.js"
import { classPicker } from "./picker.js"
import { brief } from "./queue.js"

const soft = (text) => make("p", { class: "soft", text })

const small = (row, picture) => [row.picture ? picture(row.row) : null, make("bdi", { text: row.picture && !row.texts.length ? row.id : brief(row, 160) })]

export function similarList(rows, picture, onShow) {
  if (!rows.length) return soft("There are no others.")
  return make("ul", { class: "rows" }, ...rows.map((row) => make("li", {},
    make("button", { type: "button", class: "plain", onclick: () => onShow(row.row) }, ...small(row, picture)),
    row.label ? make("b", {}, make("bdi", { text: row.label })) : null)))
}

export function disputedList(items, onDecide, onShow, picture) {
  if (!items.length) return soft("No label is disputed, neither by the model nor by another person.")
  const one = (item) => make("li", {},
    make("button", { type: "button", class: "plain", onclick: () => onShow(item.row) }, ...small(item, picture)),
    make("span", { class: "soft" }, "labelled ", make("bdi", { text: item.label }), item.by === "people" ? "; a second person says " : "; the model says ", make("bdi", { text: item.other })),
    make("span", { class: "tools" },
      make("button", { type: "button", onclick: () => onDecide(item.row, item.label) }, "Keep ", make("bdi", { text: item.label })),
      make("button", { type: "button", onclick: () => onDecide(item.row, item.other) }, "Change to ", make("bdi", { text: item.other }))))
  return make("div", {}, soft(`${count(items.length)} to decide${items.length > 50 ? "; the first 50:" : ""}`), make("ul", { class: "rows disputed" }, ...items.slice(0, 50).map(one)))
}

export function groupList(groups, onName, picture) {
  if (!groups.length) return soft("No group stands out: all rows are like labelled ones, or too few are labelled to tell.")
  return make("ul", { class: "rows groups" }, ...groups.map((group) => make("li", {},
    make("span", {}, make("b", { text: `${count(group.size)} rows` }), " unlike any label, such as"),
    make("span", { class: "samples" }, ...group.typical.slice(0, 3).map((row) => make("span", {}, ...small(row, picture)))),
    make("button", { type: "button", text: "Look and name", onclick: () => onName(group.rows) }))))
}

export function saveList(forms, onSave) {
  return make("ul", { class: "rows" }, ...forms.map(({ form, name, about }) => make("li", {},
    make("button", { type: "button", text: name, onclick: () => onSave(form) }), make("span", { class: "soft", text: about }))))
}

// Ten of the chosen rows are looked at before all are labelled.
export function checkTen({ n, sample, guesses, classes, picture, onLabel, onClose }) {
  let name = ""
  const box = make("input", { type: "checkbox" }), send = make("button", { type: "button", class: "main" })
  const show = () => {
    send.replaceChildren(`Label all ${count(n)}`, ...(name ? [" as ", make("bdi", { text: name })] : []))
    send.disabled = !name || !box.checked
  }
  const picker = classPicker({ classes, label: "Class for all of them", verb: null, onPick: (picked) => { name = picked; show(); box.focus(); return false } })
  picker.field.addEventListener("input", () => { name = ""; show() })
  box.addEventListener("change", show)
  send.addEventListener("click", () => onLabel(name))
  show()
  const top = guesses.slice(0, 4).map(([guess, share]) => `${guess} ${percent(share)}`).join(", ")
  const element = make("section", { class: "chosen", tabindex: "-1", "aria-label": "Chosen rows" },
    make("h2", { text: `${count(n)} rows chosen` }),
    make("p", { class: "soft", text: `${sample.length} of them, drawn at random:` }),
    make("ol", { class: "rows" }, ...sample.map((row) => make("li", {}, ...small(row, picture), row.guess ? make("small", {}, make("bdi", { text: row.guess })) : null))),
    guesses.length ? make("p", { class: "soft" }, "The model says ", make("bdi", { text: top }), guesses.length > 4 ? " and others." : ".") : null,
    picker.element,
    make("label", { class: "check" }, box, ` I have looked at these ${sample.length}, and they belong together`),
    make("div", { class: "tools" }, send, make("button", { type: "button", text: "Cancel", onclick: onClose }, " ", make("kbd", { text: "Esc" }))))
  return { element, field: picker.field }
}
