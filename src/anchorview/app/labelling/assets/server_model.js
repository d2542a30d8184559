// What the page asks and hears, over HTTP. A notebook has another one with the same three methods.
export class ServerModel {
  constructor(token, who) {
    this.who = who
    this.headers = { Authorization: `Bearer ${token}` }
  }

  async request(path, body) {
    const options = { headers: { ...this.headers } }
    if (body !== undefined) {
      options.method = "POST"
      options.headers["Content-Type"] = "application/json"
      options.body = JSON.stringify({ who: this.who, ...body })
    } else {
      path += `${path.includes("?") ? "&" : "?"}who=${encodeURIComponent(this.who)}`
    }
    const answer = await fetch(path, options)
    const kind = answer.headers.get("content-type") || ""
    if (!answer.ok) throw new Error(kind.startsWith("application/json") ? (await answer.json()).error : answer.statusText)
    if (kind.startsWith("application/json") && !path.startsWith("/export")) return answer.json()
    return answer.blob()
  }

  // Calls hear(name, value) for each event; EventSource cannot send the token, so the stream is read here.
  async listen(hear) {
    for (;;) {
      try {
        const answer = await fetch(`/events?who=${encodeURIComponent(this.who)}`, { headers: this.headers })
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
            const found = /^event: (.*)\ndata: (.*)$/.exec(part)
            if (found) hear(found[1], JSON.parse(found[2]))
          }
        }
      } catch { /* the server has gone: try again */ }
      hear("away", null)
      await new Promise((done) => setTimeout(done, 1000))
    }
  }
}
