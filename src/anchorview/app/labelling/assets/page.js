// The page: header, map, queue, panels. Written as render({model, el}), the form that notebooks take too.
import { Answers } from "./answers.js"
import { count, make, unpack } from "./dom.js"
import { figures } from "./header.js"
import { helpDialog, keyWork, nameDialog } from "./keys.js"
import { MapView } from "./map.js"
import { checkTen, disputedList, groupList, saveList, similarList } from "./panels.js"
import { classPicker } from "./picker.js"
import { brief, classButtons, guessLine, rowContent } from "./queue.js"

export async function render({ model, el }) {
  const page = new Page(model, el)
  el.classList.add("anchorview-label")
  el.anchorviewPage = page // for whoever looks at it from the console, and benchmarks/page.py
  try {
    await page.start()
  } catch (error) {
    el.replaceChildren(make("p", { class: "error", role: "alert", text: error.message }))
  }
  return () => page.stop()
}

class Page {
  constructor(model, el) {
    Object.assign(this, { model, el, hideGuess: false, pictures: new Map() })
    this.dark = matchMedia("(prefers-color-scheme: dark)")
    this.answers = new Answers(model, { onQueue: (row, before) => this.showRow(row, before), onOverview: (overview) => this.take(overview), say: (text) => this.say(text) })
  }

  async start() {
    const [overview, { queue }] = await Promise.all([this.model.request("/start"), this.model.request("/queue")])
    this.build(overview)
    this.take(overview)
    this.answers.setQueue(queue)
    if (overview.note) this.say(overview.note)
    this.keysOn = this.model.keysOn || document // in a notebook the page hears the keys of its own cell only
    this.onKey = (event) => this.key(event)
    this.onTheme = () => this.row && this.showChoices()
    this.keysOn.addEventListener("keydown", this.onKey)
    this.dark.addEventListener("change", this.onTheme)
    this.model.listen((name, value) => this.hear(name, value))
    this.el.dataset.ready = "queue" // rows can be labelled before the map is there
    this.map.setPlaces((await unpack(await this.model.request("/map.bin"))).places)
    await this.refresh()
    this.el.dataset.ready = "true"
  }

  stop() {
    this.keysOn?.removeEventListener("keydown", this.onKey)
    this.dark.removeEventListener("change", this.onTheme)
    this.model.stop()
  }

  build(overview) {
    const button = (text, key, work, more = {}) => make("button", { type: "button", onclick: work, ...more }, text, " ", make("kbd", { "aria-hidden": "true", text: key }))
    const by = (name, text) => make("button", { type: "button", "aria-pressed": String(name === "label"), "data-by": name, text, onclick: () => this.colourBy(name) })
    const tool = (text, label, work) => make("button", { type: "button", text, "aria-label": label, title: label, onclick: work })
    this.figures = make("div")
    this.live = make("p", { class: "live", role: "status", "aria-live": "polite" })
    this.place = make("div", { class: "map" })
    this.legend = make("p", { class: "legend soft" })
    this.rowBox = make("section", { class: "row", tabindex: "-1", "aria-label": "Row to label" })
    this.choices = make("div", { class: "classes", role: "group", "aria-label": "Classes" })
    this.picker = classPicker({ classes: () => this.overview.classes, label: "Find or add a class", onPick: (name) => { this.answers.label(name); this.picker.field.blur() } })
    this.search = make("input", { type: "search", placeholder: "Search rows", "aria-label": "Search rows" })
    this.panel = make("section", { class: "panel", hidden: true, tabindex: "-1" })
    this.help = helpDialog(overview.guidelines)
    this.lassoButton = make("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggleLasso() }, "Lasso ", make("kbd", { "aria-hidden": "true", text: "l" }))
    this.mapBox = make("details", { class: "left", open: innerWidth > 700 }, make("summary", { text: "Map" }),
      make("div", { class: "tools" }, make("span", { class: "joined", role: "group", "aria-label": "Colour by" }, by("label", "Class"), by("confidence", "Confidence"), by("novelty", "Novelty")),
        this.lassoButton, make("span", { class: "joined end" }, tool("−", "Zoom out", () => this.map.zoomBy(1 / 1.5)), tool("+", "Zoom in", () => this.map.zoomBy(1.5)), tool("⤢", "Show all", () => this.map.reset()))),
      this.place, this.legend)
    this.labelling = make("div", { class: "labelling" }, this.rowBox, this.choices,
      make("div", { class: "find" }, this.picker.element, make("kbd", { "aria-hidden": "true", text: "/" })),
      make("div", { class: "tools" }, button("Skip", "space", () => this.answers.answer("skip")), button("None of these", "u", () => this.answers.answer("none")),
        button("Flag", "f", () => this.answers.flag()), button("Undo", "⌫", () => this.answers.undo())))
    this.tabs = { similar: button("Similar", "i", () => this.open("similar")), disputed: button("Disputed", "d", () => this.open("disputed")),
      groups: button("Unnamed groups", "n", () => this.open("groups")), save: button("Save", "e", () => this.open("save")) }
    for (const tab of Object.values(this.tabs)) tab.setAttribute("aria-expanded", "false")
    this.chosen = make("div", { hidden: true })
    this.busy = make("span", { class: "busy soft", text: "updating …", hidden: true })
    this.who = nameDialog(this.model.who, (name) => this.model.rename(name))
    this.el.replaceChildren(
      make("header", {}, make("div", { class: "bar" }, make("h1", {}, "Label ", make("bdi", { class: "soft", text: overview.name })), this.busy,
        make("span", { class: "end tools" }, this.model.rename ? make("button", { type: "button", class: "plain", onclick: () => this.who.showModal(), "aria-label": `You are ${this.model.who}; change your name` }, make("bdi", { text: this.model.who })) : null,
          button("Help", "h", () => this.help.showModal()))), this.figures),
      make("main", {}, this.mapBox, make("div", { class: "right" }, this.live, this.chosen, this.labelling,
        make("form", { class: "find", onsubmit: (event) => { event.preventDefault(); this.searchRows() } }, this.search, make("button", { type: "submit" }, "Search ", make("kbd", { "aria-hidden": "true", text: "s" }))),
        make("div", { class: "tools tabs" }, ...Object.values(this.tabs)), this.panel)),
      this.help, this.who)
    this.map = new MapView(this.place, (row) => this.look(row), (rows) => this.choose(rows, "lasso"))
    this.showLegend("label")
  }

  hear(name, overview) {
    if (name === "away") { this.say(`The server does not answer${this.answers.unsent ? `; ${count(this.answers.unsent)} of your answers wait here to be sent` : ""}. Is it still running?`); return }
    this.take(overview)
    if (name === "state" || name === "hello") this.refresh()
  }

  take(overview) {
    const changed = !this.overview || this.overview.classes.join("\0") !== overview.classes.join("\0")
    this.overview = overview
    this.figures.replaceChildren(figures(overview))
    this.busy.hidden = !overview.updating
    for (const [tab, n] of [["disputed", overview.n_disputed], ["groups", overview.n_groups]]) this.tabs[tab].dataset.n = n ? count(n) : ""
    if (overview.problem) this.say(`The model could not be updated: ${overview.problem} Labels are kept all the same.`)
    if (changed) {
      this.map.setClasses(overview.classes)
      if (this.row) this.showChoices()
    }
  }

  async refresh() {
    if (this.fetching) { this.again = true; return }
    this.fetching = true
    try {
      const state = await unpack(await this.model.request("/state.bin"))
      this.map.setState(state)
      this.el.dataset.version = state.version
    } finally { this.fetching = false }
    if (this.again) { this.again = false; this.refresh() }
  }

  showRow(row, before) {
    const focus = this.labelling.contains(document.activeElement) && document.activeElement !== this.picker.field
    this.row = row
    if (!row) {
      this.rowBox.replaceChildren(make("p", { class: "done" }, ...(this.answers.unsent ? ["The next row comes …"]
        : [make("b", { text: "No row is waiting." }), " All are labelled, skipped, or with somebody else. Look at disputed labels and unnamed groups, or save what there is."])))
      this.choices.replaceChildren()
      this.map.show(-1)
      delete this.el.dataset.row
      if (before) this.say(before)
      return
    }
    this.rowBox.replaceChildren(make("p", { class: "soft id" }, "Row ", make("bdi", { text: row.id }), row.flagged ? make("span", { class: "flag", text: " ⚑ flagged" }) : null),
      ...rowContent(row, (number) => this.picture(number)), guessLine(row, this.hideGuess), row.reason ? make("p", { class: "soft", text: `Why this row: ${row.reason}.` }) : "")
    this.showChoices()
    this.map.show(row.blind ? -1 : row.row)
    this.el.dataset.row = row.row
    if (focus) this.rowBox.focus({ preventScroll: true }) // its buttons were replaced
    if (before) this.say(before, `Next: ${brief(row, 80)}`)
    if (this.tabs.similar.getAttribute("aria-expanded") === "true") this.open()
    for (const next of this.answers.queue.slice(0, 4)) if (next.picture) this.pictureOf(next.row)
  }

  showChoices() {
    const guess = this.hideGuess || this.row.blind ? null : this.row.guess
    this.choices.replaceChildren(...classButtons(this.overview.classes, guess, (name) => this.answers.label(name), this.dark.matches))
    if (!this.overview.classes.length) this.choices.append(make("p", { class: "soft", text: "No class has a name yet: type the first one." }))
  }

  // Pictures of the next rows are asked for ahead; some are kept.
  pictureOf(row) {
    if (!this.pictures.has(row)) {
      this.pictures.set(row, this.model.request(`/image/${row}`).then((blob) => URL.createObjectURL(blob)))
      this.pictures.get(row).catch(() => {})
      if (this.pictures.size > 60) {
        const [oldest, address] = this.pictures.entries().next().value
        this.pictures.delete(oldest)
        address.then(URL.revokeObjectURL, () => {})
      }
    }
    return this.pictures.get(row)
  }

  picture(number) {
    const image = make("img", { alt: `Picture of row ${number}` })
    this.pictureOf(number).then((address) => { image.src = address }, (error) => image.replaceWith(make("span", { class: "soft", text: error.message })))
    return image
  }

  async look(row) {
    const shown = await this.model.request(`/rows/${row}`)
    this.answers.putFirst({ ...shown, review: shown.label !== null, looked: true })
    this.rowBox.scrollIntoView({ block: "nearest" })
  }

  async choose(rows, why) {
    if (!rows.length) { this.say("No row was chosen."); return }
    const { sample, guesses, n } = await this.model.request("/sample", { rows }).catch((error) => { this.say(error.message); return { n: 0 } })
    if (!n) { if (sample) this.say("All of these rows have a label already."); return }
    this.map.show(-1, rows)
    const label = (name) => { this.closeChosen(); this.answers.labelMany(rows, name, why, n) }
    const box = checkTen({ n, sample, guesses, classes: () => this.overview.classes, picture: (number) => this.picture(number), onLabel: label, onClose: () => this.closeChosen() })
    this.chosen.replaceChildren(box.element)
    this.chosen.hidden = false
    this.labelling.hidden = true
    this.open()
    this.chosen.scrollIntoView({ block: "nearest" })
    box.field.focus({ preventScroll: true })
    this.say(`${count(n)} rows chosen.`)
  }

  closeChosen() {
    this.say("")
    this.chosen.hidden = true
    this.labelling.hidden = false
    this.chosen.replaceChildren()
    this.map.show(this.row && !this.row.blind ? this.row.row : -1, [])
    this.rowBox.focus({ preventScroll: true })
  }

  async searchRows() {
    const { rows, more } = await this.model.request(`/search?q=${encodeURIComponent(this.search.value)}`)
    if (!rows.length) { this.say(`No row holds “${this.search.value}”.`); return }
    await this.choose(rows, "search")
    if (more) this.say(`The first ${count(rows.length)} rows that hold it; ${count(more)} more do.`)
  }

  // Opens a panel, or closes the one that is open.
  async open(name) {
    const wasOpen = name && this.tabs[name].getAttribute("aria-expanded") === "true"
    for (const tab of Object.values(this.tabs)) tab.setAttribute("aria-expanded", "false")
    this.panel.hidden = true
    if (!name || wasOpen) return
    const picture = (number) => this.picture(number), show = (row) => this.look(row)
    const made = {
      similar: async () => this.row ? similarList(await this.model.request(`/similar/${this.row.row}`), picture, show) : "",
      disputed: async () => disputedList(await this.model.request("/disputed"), async (row, label) => { await this.answers.decide(row, label); this.open(); this.open("disputed") }, show, picture),
      groups: async () => groupList(await this.model.request("/groups"), (rows) => this.choose(rows, "group"), picture),
      save: async () => saveList(this.overview.forms || (await this.model.request("/start")).forms, (form) => this.save(form)),
    }
    this.panel.replaceChildren(await made[name]())
    this.panel.setAttribute("aria-label", this.tabs[name].firstChild.textContent)
    this.panel.hidden = false
    this.tabs[name].setAttribute("aria-expanded", "true")
    this.panel.scrollIntoView({ block: "nearest" })
  }

  async save(form) {
    this.say("Making the file …")
    try {
      const { blob, name } = await this.model.file(`/export?form=${form}`)
      const link = make("a", { href: URL.createObjectURL(blob), download: name })
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60000)
      this.say(`Saved ${name}.`)
    } catch (error) { this.say(error.message) }
  }

  colourBy(name) {
    this.map.colourBy(name)
    this.showLegend(name)
    for (const button of this.el.querySelectorAll("[data-by]")) button.setAttribute("aria-pressed", String(button.dataset.by === name))
  }

  showLegend(name) {
    const scale = (low, high, kind) => [low, make("span", { class: `scale ${kind}`, "aria-hidden": "true" }), high]
    this.legend.replaceChildren(...{ label: ["Large dots have a label; the paler a dot, the less sure the model is."], confidence: scale("unsure", "sure", "sure"), novelty: scale("like labelled rows", "unlike all of them", "new") }[name])
  }

  toggleLasso() {
    this.map.lassoing = !this.map.lassoing
    this.lassoButton.setAttribute("aria-pressed", String(this.map.lassoing))
    this.say(this.map.lassoing ? "Draw around rows on the map." : "")
  }

  say(text, unseen = "") {
    this.live.replaceChildren(text, unseen ? make("span", { class: "unseen", text: ` ${unseen}` }) : "")
  }

  key(event) {
    const work = keyWork(this, event)
    if (!work) return
    event.preventDefault()
    work()
  }
}
