// What the page asks and hears, over HTTP. A notebook has another one with the same methods.
export class ServerModel {
  constructor(token, who) {
    this.who = who
    this.headers = { Authorization: `Bearer ${token}` }
    this.ended = new AbortController()
  }

  async fetch(path, body) {
    const options = { headers: { ...this.headers } }
    if (body !== undefined) {
      options.method = "POST"
      options.headers["Content-Type"] = "application/json"
      options.body = JSON.stringify({ who: this.who, ...body })
    } else {
      path += `${path.includes("?") ? "&" : "?"}who=${encodeURIComponent(this.who)}`
    }
    const answer = await fetch(path, options)
    if (answer.ok) return answer
    const isJson = (answer.headers.get("content-type") || "").startsWith("application/json")
    throw new Error(isJson ? (await answer.json()).error : answer.statusText)
  }

  async request(path, body) {
    const answer = await this.fetch(path, body)
    return answer.headers.get("content-type").startsWith("application/json") ? answer.json() : answer.blob()
  }

  async file(path) {
    const answer = await this.fetch(path)
    return { blob: await answer.blob(), name: /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))[1] }
  }

  rename(who) {
    sessionStorage.setItem("who", who)
    location.reload()
  }

  stop() {
    this.ended.abort()
  }

  // Calls hear(name, value) for each event; EventSource cannot send the token, so the stream is read here.
  async listen(hear) {
    while (!this.ended.signal.aborted) {
      try {
        const answer = await fetch(`/events?who=${encodeURIComponent(this.who)}`, { headers: this.headers, signal: this.ended.signal })
        if (!answer.ok) throw new Error(answer.statusText)
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
        let text = ""
        for (;;) {
          const { value, done } = await reader.read()
          if (done) break
          text += value
          const parts = text.split("\n\n")
          text = parts.pop()
          for (const part of parts) {
            const message = /^event: (.*)\ndata: (.*)$/.exec(part)
            if (message) hear(message[1], JSON.parse(message[2]))
          }
        }
      } catch { /* the server has gone: try again */ }
      if (this.ended.signal.aborted) return
      hear("away", null)
      await new Promise((done) => setTimeout(done, 1000))
    }
  }
}
