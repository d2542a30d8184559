// The page on its own: takes the token out of the address, and starts.
import { render } from "./page.js"
import { ServerModel } from "./server_model.js"

const fragment = new URLSearchParams(location.hash.slice(1))
if (fragment.has("token")) {
  sessionStorage.setItem("token", fragment.get("token"))
  if (fragment.has("who")) sessionStorage.setItem("who", fragment.get("who"))
  history.replaceState(null, "", location.pathname) // the token must not stay in the address
}
const model = new ServerModel(sessionStorage.getItem("token") || "", sessionStorage.getItem("who") || "you")
render({ model, el: document.getElementById("page") })
