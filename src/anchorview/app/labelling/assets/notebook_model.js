// What the page asks and hears in a notebook: messages to the kernel, which answers as the server does.
export class NotebookModel {
  constructor(model, el) {
    Object.assign(this, { model, who: model.get("who"), keysOn: el, waiting: new Map(), serial: 0, tag: Math.random().toString(36).slice(2) })
    el.tabIndex = 0
    this.onMessage = (message, buffers) => this.take(message, buffers)
    model.on("msg:custom", this.onMessage)
  }

  take(message, buffers) {
    if (message.event) { this.hear?.(message.event, message.value); return }
    const done = this.waiting.get(message.id)
    if (!done) return // another view of the same cell asked
    this.waiting.delete(message.id)
    done({ ...message, data: buffers?.[0] })
  }

  async ask(path, body) {
    const id = `${this.tag}-${++this.serial}`
    const question = body === undefined ? { path: `${path}${path.includes("?") ? "&" : "?"}who=${encodeURIComponent(this.who)}`, body: null } : { path, body: { who: this.who, ...body } }
    const answer = await new Promise((done) => { this.waiting.set(id, done); this.model.send({ id, ...question }) })
    if (answer.status >= 400) throw new Error(answer.value.error)
    return answer
  }

  async request(path, body) {
    const answer = await this.ask(path, body)
    return answer.value === null ? new Blob([answer.data], { type: answer.kind }) : answer.value
  }

  async file(path) {
    const { data, kind, value, name } = await this.ask(path)
    return { blob: new Blob([value === null ? data : JSON.stringify(value)], { type: kind }), name }
  }

  listen(hear) {
    this.hear = hear
  }

  stop() {
    this.model.off("msg:custom", this.onMessage)
  }
}
