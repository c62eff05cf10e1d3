import { spawn } from "node:child_process"

const COMMAND = __COMMAND__
const OPTIONS = __OPTIONS__

/** Run a hook and return what it prints: empty if it has no answer, fails or takes too long. */
function run(event, given) {
  return new Promise((resolve) => {
    try {
      const [program, ...words] = [...COMMAND, event, ...OPTIONS]
      const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const timer = setTimeout(() => child.kill(), __MILLISECONDS__)
      let printed = ""
      child.stdout.on("data", (piece) => (printed += piece))
      child.on("error", () => resolve(""))
      child.on("close", () => {
        clearTimeout(timer)
        resolve(printed)
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(given))
    } catch {
      resolve("")
    }
  })
}

const isMessageText = (part) => part.type === "text" && !part.synthetic && !part.ignored
const messageText = (parts) => (parts ?? []).filter(isMessageText).map((part) => part.text).join("\n")

export const Recollect = async ({ client }) => {
  await run("start", { session_id: "opencode", source: "resume" })
  const storedAnswers = new Map()
  return {
    "chat.message": async (input, output) => {
      const printed = await run("prompt", { session_id: input.sessionID, prompt: messageText(output.parts) })
      if (!printed) return
      try {
        const text = JSON.parse(printed).context
        const id = "prt_" + output.message.id.replace(/^[a-z]+_/, "") + "z"
        const place = { id, sessionID: input.sessionID, messageID: output.message.id }
        output.parts.push({ ...place, type: "text", text, synthetic: true })
      } catch {}
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      try {
        const id = event.properties.sessionID
        const found = await client.session.messages({ path: { id } })
        const last = (found.data ?? []).filter((each) => each.info.role === "assistant").at(-1)
        if (!last || storedAnswers.get(id) === last.info.id) return
        storedAnswers.set(id, last.info.id)
        await run("turn", { session_id: id, last_assistant_message: messageText(last.parts) })
      } catch {}
    },
  }
}
