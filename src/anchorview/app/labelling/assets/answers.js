// What a person answers: the next row is shown at once, and answers are sent behind it, in order, until the server has them.
import { count } from "./dom.js"

export class Answers {
  constructor(model, { onQueue, onOverview, say }) {
    Object.assign(this, { model, onQueue, onOverview, say, queue: [], unsent: 0, pending: Promise.resolve(), since: 0, serial: 0 })
    this.done = [] // what undo takes back: the row that was answered, or null for other work
    this.tag = Math.random().toString(36).slice(2) // with a number, the name of an event: one that is sent again is taken once
  }

  get row() { return this.queue[0] }

  // The row that is shown stays: it must not change under the finger of a person who has just decided.
  setQueue(queue) {
    const shown = this.shown
    this.queue = shown ? [shown, ...queue.filter((other) => other.row !== shown.row)] : queue
    if (!shown) this.next()
  }

  putFirst(row) {
    this.queue = [row, ...this.queue.filter((other) => other.row !== row.row)]
    this.next()
  }

  next(before) {
    this.shown = this.row
    this.since = performance.now()
    this.onQueue(this.row, before)
  }

  label(name) {
    if (name && name.trim()) this.answer("label", name.trim())
  }

  answer(kind, label) {
    const row = this.row
    if (!row) return
    const event = { kind, rows: [row.row], ms: Math.round(performance.now() - this.since), key: this.newKey() }
    if (label) event.label = label
    if (row.review) event.why = "review"
    this.queue = this.queue.filter((other) => other.row !== row.row)
    this.done.push(row)
    this.send("/labels", { events: [event] })
    this.next(kind === "label" ? `Row ${row.id}: ${label}.` : `Row ${row.id}: ${kind === "skip" ? "skipped" : "none of these"}.`)
  }

  flag() {
    if (!this.row) return
    this.done.push(null)
    this.row.flagged = true
    this.onQueue(this.row, `Row ${this.row.id} is flagged.`)
    this.send("/labels", { events: [{ kind: "flag", rows: [this.row.row], key: this.newKey() }] })
  }

  labelMany(rows, label, why, n) {
    this.done.push(null)
    this.say(`${count(n)} rows: ${label}.`)
    return this.send("/labels", { events: [{ kind: "label", rows, label, why, key: this.newKey() }] })
  }

  decide(row, label) {
    this.done.push(null)
    this.say(`Kept ${label}.`)
    return this.send("/labels", { events: [{ kind: "label", rows: [row], label, why: "review", key: this.newKey() }] })
  }

  // The row comes back at once: a key that follows is meant for it.
  undo() {
    const row = this.done.pop()
    this.say("Taken back.")
    if (row) { this.putFirst(row); this.say(`Taken back: row ${row.id}.`) }
    else if (row === undefined) this.shown = null // answered before this page was opened: the server knows which row it was
    this.send("/undo", { key: this.newKey() })
  }

  newKey() {
    this.serial += 1
    return `${this.tag}-${this.serial}`
  }

  send(path, body) {
    this.unsent += 1
    this.pending = this.pending.then(() => this.deliver(path, body))
    return this.pending
  }

  async deliver(path, body) {
    for (;;) {
      try {
        const answer = await this.model.request(path, body)
        this.unsent -= 1
        this.onOverview(answer)
        if (answer.queue && !this.unsent) this.setQueue(answer.queue)
        return
      } catch (error) {
        if (!(error instanceof TypeError)) { // refused, and the server says why: what is shown follows the server again
          this.unsent -= 1
          this.shown = null
          if (!this.unsent) { const { queue } = await this.model.request("/queue").catch(() => ({})); if (queue) this.setQueue(queue) }
          this.say(error.message)
          return
        }
        this.say(`The server does not answer; ${count(this.unsent)} of your answers wait here to be sent.`)
        await new Promise((done) => setTimeout(done, 500))
      }
    }
  }
}
