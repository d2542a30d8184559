// The page: header, map, queue; every key. Written as render({model, el}), the form that notebooks take too.
import { make, unpack } from "./dom.js"
import { figures } from "./header.js"
import { checkTen, disputedList, groupList } from "./lists.js"
import { MapView } from "./map.js"
import { classButtons, guessLine, rowContent } from "./queue.js"

const HELP = [["1–9, 0, ⇧1–⇧0", "label"], ["a", "accept the guess"], ["space", "skip"], ["⌫", "undo"], ["u", "none of these"],
  ["f", "flag"], ["/", "find a class, or add one"], ["g", "hide or show guesses"], ["h", "guidelines and keys"]]

export async function render({ model, el }) {
  const page = new Page(model, el)
  try {
    await page.start()
  } catch (error) {
    el.replaceChildren(make("p", { class: "error", role: "alert", text: error.message }))
  }
  return () => page.stop()
}

class Page {
  constructor(model, el) {
    Object.assign(this, { model, el, queue: [], pending: Promise.resolve(), hideGuess: false, since: 0, serial: 0 })
    this.dark = matchMedia("(prefers-color-scheme: dark)")
    this.tag = Math.random().toString(36).slice(2) // with a number, the name of an event: one that is sent again is taken once
  }

  async start() {
    const [overview, { queue }] = await Promise.all([this.model.request("/start"), this.model.request("/queue")])
    this.build(overview)
    this.take(overview)
    this.setQueue(queue)
    if (overview.note) this.say(overview.note)
    this.onKey = (event) => this.key(event)
    document.addEventListener("keydown", this.onKey)
    this.model.listen((name, value) => this.hear(name, value))
    this.map.setPlaces((await unpack(await this.model.request("/map.bin"))).places)
    await this.refresh()
    this.el.dataset.ready = "true"
  }

  stop() {
    document.removeEventListener("keydown", this.onKey)
  }

  build(overview) {
    const by = (name, text) => make("button", { type: "button", "aria-pressed": String(name === "label"), "data-by": name, text, onclick: () => this.colourBy(name) })
    this.figures = make("div")
    this.live = make("p", { class: "live", role: "status", "aria-live": "polite" })
    this.place = make("div", { class: "map" })
    this.rowBox = make("section", { class: "row", tabindex: "-1", "aria-label": "Row to label" })
    this.find = make("input", { type: "search", list: "names", placeholder: "Find or add a class", "aria-label": "Find or add a class", maxlength: 200 })
    this.names = make("datalist", { id: "names" })
    this.choices = make("div")
    this.search = make("input", { type: "search", placeholder: "Search rows", "aria-label": "Search rows" })
    this.lists = make("div", { class: "lists" })
    this.similar = make("details", { class: "similar", ontoggle: () => this.showSimilar() }, make("summary", { text: "Similar rows" }), make("div"))
    this.guidelines = make("dialog", { "aria-label": "Guidelines and keys" }, make("h2", { text: "Guidelines" }),
      make("p", { class: "guidelines", text: overview.guidelines || "There are none." }), make("h2", { text: "Keys" }),
      make("table", {}, ...HELP.map(([key, what]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", { text: key })), make("td", { text: what })))),
      make("form", { method: "dialog" }, make("button", { text: "Close" })))
    const button = (text, key, work) => make("button", { type: "button", onclick: work }, text, " ", make("kbd", { text: key }))
    const tool = (text, work) => make("button", { type: "button", text, onclick: work })
    this.lassoButton = make("button", { type: "button", "aria-pressed": "false", text: "Lasso", onclick: () => this.toggleLasso() })
    this.el.replaceChildren(
      make("header", {}, make("h1", { text: "Label" }), this.figures, this.live),
      make("main", {},
        make("details", { class: "left", open: innerWidth > 700 }, make("summary", { text: "Map" }),
          make("div", { class: "tools" }, by("label", "Class"), by("confidence", "Confidence"), by("novelty", "Novelty"), this.lassoButton,
            tool("+", () => this.map.zoomBy(1.5)), tool("−", () => this.map.zoomBy(1 / 1.5))), this.place),
        make("div", { class: "right" },
          this.rowBox, this.choices,
          make("form", { class: "find", onsubmit: (event) => { event.preventDefault(); this.label(this.find.value); this.find.value = ""; this.find.blur() } },
            this.names, this.find, make("button", { type: "submit", text: "Label" }), make("kbd", { text: "/" })),
          make("div", { class: "tools" }, button("Skip", "space", () => this.answer("skip")), button("None of these", "u", () => this.answer("none")),
            button("Flag", "f", () => this.flag()), button("Undo", "⌫", () => this.undo()), button("Help", "h", () => this.guidelines.showModal())),
          this.similar,
          make("form", { class: "find", onsubmit: (event) => { event.preventDefault(); this.searchRows() } }, this.search, make("button", { type: "submit", text: "Search" })),
          make("div", { class: "tools" }, tool("Disputed labels", () => this.showDisputed()), tool("Groups without a name", () => this.showGroups()),
            ...(overview.forms || []).map((form) => tool(`Save ${form}`, () => this.save(form)))),
          this.lists)),
      this.guidelines)
    this.map = new MapView(this.place, (row) => this.look(row), (rows) => this.choose(rows, "lasso"))
  }

  hear(name, overview) {
    if (name === "away") { this.say("The server does not answer; what you label now is sent when it is back."); return }
    this.take(overview)
    if (name === "state" || name === "hello") this.refresh()
  }

  take(overview) {
    const changed = !this.overview || this.overview.classes.join("\0") !== overview.classes.join("\0")
    this.overview = overview
    this.figures.replaceChildren(figures(overview))
    if (overview.problem) this.say(`The model could not be updated: ${overview.problem}`)
    if (changed) {
      this.names.replaceChildren(...overview.classes.map((name) => make("option", { value: name })))
      this.map.setClasses(overview.classes.length)
      if (this.row) this.showRow()
    }
  }

  async refresh() {
    const state = await unpack(await this.model.request("/state.bin"))
    this.map.setState(state)
    this.el.dataset.version = state.version
  }

  setQueue(queue) {
    this.queue = queue
    if (!this.row || this.row.row !== (queue[0] || {}).row) this.next()
  }

  next() {
    this.row = this.queue[0]
    this.since = performance.now()
    this.similar.open = false
    this.showRow()
  }

  showRow() {
    const row = this.row
    if (!row) {
      this.rowBox.replaceChildren(make("p", { text: "No row is waiting: all are labelled, skipped, or with somebody else." }))
      this.choices.replaceChildren()
      return
    }
    this.rowBox.replaceChildren(...rowContent(row, (number) => this.picture(number)), guessLine(row, this.hideGuess), row.reason ? make("p", { class: "soft", text: row.reason }) : "")
    this.choices.replaceChildren(classButtons(this.overview.classes, this.hideGuess || row.blind ? null : row.guess, (name) => this.label(name), this.dark.matches))
    this.map.show(row.blind ? -1 : row.row)
    this.el.dataset.row = row.row
  }

  picture(number) {
    const image = make("img", { alt: `Picture of row ${number}` })
    this.model.request(`/image/${number}`).then(
      (blob) => { image.src = URL.createObjectURL(blob) },
      (error) => image.replaceWith(make("p", { class: "soft", text: error.message })))
    return image
  }

  label(name) {
    if (name && name.trim()) this.answer("label", name.trim())
  }

  // The next row is shown at once; the answer is sent behind it, in order, until the server has it.
  answer(kind, label) {
    const row = this.row
    if (!row) return
    const event = { kind, rows: [row.row], ms: Math.round(performance.now() - this.since), key: this.newKey() }
    if (label) event.label = label
    if (row.review) event.why = "review"
    this.queue = this.queue.filter((other) => other.row !== row.row)
    this.next()
    this.say(kind === "label" ? `Row ${row.id}: ${label}.` : `Row ${row.id}: ${kind === "skip" ? "skipped" : "none of these"}.`)
    this.send("/labels", { events: [event] })
  }

  newKey() {
    this.serial += 1
    return `${this.tag}-${this.serial}`
  }

  send(path, body) {
    this.unsent = (this.unsent || 0) + 1
    this.pending = this.pending.then(async () => {
      for (;;) {
        try {
          const answer = await this.model.request(path, body)
          this.unsent -= 1
          this.take(answer)
          if (answer.queue && !this.unsent) this.setQueue(answer.queue)
          return
        } catch (error) {
          if (!(error instanceof TypeError)) { this.unsent -= 1; this.say(error.message); return } // refused, and said why
          this.say("The server does not answer; the last label waits to be sent.")
          await new Promise((done) => setTimeout(done, 500))
        }
      }
    })
    return this.pending
  }

  flag() {
    if (this.row) { this.send("/labels", { events: [{ kind: "flag", rows: [this.row.row], key: this.newKey() }] }); this.say(`Row ${this.row.id} is flagged.`) }
  }

  undo() {
    this.say("Taken back.")
    this.row = null
    this.send("/undo", { key: this.newKey() })
  }

  async look(row) {
    const found = await this.model.request(`/rows/${row}`)
    if (found.label !== null) found.review = true
    this.queue = [found, ...this.queue.filter((other) => other.row !== row)]
    this.next()
  }

  async choose(rows, why) {
    if (!rows.length) { this.say("No row was chosen."); return }
    const sample = await this.model.request("/sample", { rows })
    this.map.show(-1, rows)
    const done = () => { this.lists.replaceChildren(); this.map.show(this.row ? this.row.row : -1, []) }
    const label = async (name) => { await this.send("/labels", { events: [{ kind: "label", rows, label: name, why, key: this.newKey() }] }); done(); this.say(`${rows.length} rows: ${name}.`) }
    this.lists.replaceChildren(checkTen(rows, sample, this.overview.classes, label, done))
    this.lists.querySelector("input").focus()
  }

  async searchRows() {
    const { rows } = await this.model.request(`/search?q=${encodeURIComponent(this.search.value)}`)
    await this.choose(rows, "search")
  }

  async showDisputed() {
    const settle = async (row, label) => { await this.send("/labels", { events: [{ kind: "label", rows: [row], label, why: "review", key: this.newKey() }] }); this.showDisputed() }
    this.lists.replaceChildren(make("h2", { text: "Disputed labels" }), disputedList(await this.model.request("/disputed"), settle, (row) => this.look(row)))
  }

  async showGroups() {
    this.lists.replaceChildren(make("h2", { text: "Groups without a name" }), groupList(await this.model.request("/groups"), (rows) => this.choose(rows, "group")))
  }

  async showSimilar() {
    if (!this.similar.open || !this.row) return
    const rows = await this.model.request(`/similar/${this.row.row}`)
    this.similar.lastChild.replaceChildren(make("ul", {}, ...rows.map((row) => make("li", {}, make("bdi", { text: (row.texts[0] || row.cells[0] || ["", `row ${row.id}`])[1].slice(0, 160) }), row.label ? make("b", {}, " – ", make("bdi", { text: row.label })) : null))))
  }

  async save(form) {
    const link = make("a", { href: URL.createObjectURL(await this.model.request(`/export?form=${form}`)), download: `labels.${form === "label-studio" ? "json" : form}` })
    link.click()
  }

  colourBy(name) {
    this.map.colourBy(name)
    for (const button of this.el.querySelectorAll("[data-by]")) button.setAttribute("aria-pressed", String(button.dataset.by === name))
  }

  toggleLasso() {
    this.map.lassoing = !this.map.lassoing
    this.lassoButton.setAttribute("aria-pressed", String(this.map.lassoing))
  }

  say(text) {
    this.live.textContent = text
  }

  key(event) {
    const typing = event.target.closest("input, textarea, select, dialog")
    if (event.key === "Escape" && typing) { event.target.blur(); return }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return
    const digit = /^Digit(\d)$/.exec(event.code)
    const onButton = event.target.closest("button, summary, a")
    let work
    if (digit) {
      const place = (Number(digit[1]) + 9) % 10 + (event.shiftKey ? 10 : 0)
      work = () => this.label(this.overview.classes[place])
    } else if (event.key === " " && !onButton) work = () => this.answer("skip")
    else if (event.key === "Backspace") work = () => this.undo()
    else if (event.key === "a") work = () => this.row && !this.row.blind && !this.hideGuess && this.label(this.row.guess)
    else if (event.key === "u") work = () => this.answer("none")
    else if (event.key === "f") work = () => this.flag()
    else if (event.key === "g") work = () => { this.hideGuess = !this.hideGuess; this.showRow() }
    else if (event.key === "h") work = () => this.guidelines.showModal()
    else if (event.key === "/") work = () => this.find.focus()
    if (!work) return
    event.preventDefault()
    work()
  }
}
