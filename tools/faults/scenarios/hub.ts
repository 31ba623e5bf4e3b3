import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createHTTPTransport } from "../../../src/http.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import { awkward } from "../../../test/sources/mcp/support/awkward.ts"
import type { Scenario } from "../scenario.ts"
import type { CallRecord } from "../records.ts"
import { checkCodes, checkSpread, failedCalls, modestLoad } from "./common.ts"

/** How the ids of the lab's operations begin at a hub: over its broker, and over the MCP endpoint of another hub. */
const FAR = "far.lab."
const TOOLS = "tools.far_lab_"

/**
 * An MCP server that dies soon after each start is restarted at increasing intervals, and does not affect
 * other sources.
 */
export const dyingChild: Scenario = {
  id: "F59",
  title: "MCP child that dies after each start",
  async run(lab) {
    await lab.startBroker()
    const workers = await lab.workers(2)
    const pidFile = join(lab.folder, "pids")
    const hub = await lab.hub({ sources: { tools: { mcp: awkward({ lifetime: 300, pidFile }) } } })
    const caller = lab.callerOver(createWebSocketTransport(hub.wsUrl), FAR)
    await lab.warm(caller, workers)
    const seconds = lab.pick(30, 15, 5)
    await caller.rate({ ...modestLoad(lab), seconds })
    await caller.settled()
    checkCodes(lab, lab.audit(), [])
    const starts = readFileSync(pidFile, "utf8").trim().split("\n").length
    lab.facts["starts"] = `${starts} in ${seconds} s`
    lab.check("it is started again", starts > 1, starts)
    lab.check("at most 10 times", starts <= 10, starts)
  },
}

/** A hub is killed and restarted: its clients reconnect automatically, at different times. */
export const hubRestarted: Scenario = {
  id: "F60",
  title: "200 clients of a hub that restarts",
  async run(lab) {
    await lab.startBroker()
    const workers = await lab.workers(2)
    const tokens = Array.from({ length: lab.pick(200, 100, 20) }, (_, at) => `token-${at}`)
    const apiKeys = tokens.map((token, at) => ({
      id: `client${at}`,
      hash: createHash("sha256").update(token).digest("hex"),
    }))
    const first = await lab.hub({ apiKeys })
    const callers = tokens.map((token) =>
      lab.callerOver(createWebSocketTransport(first.wsUrl, { token }), FAR),
    )
    const one = callers[0]
    if (one !== undefined) await lab.warm(one, workers)
    const callAll = (ms: number): Promise<CallRecord[]> =>
      Promise.all(callers.map((caller) => caller.call({ ms, timeout: 20_000 })))
    await callAll(1)
    const before = callAll(5000)
    await sleep(500)
    const port = Number(new URL(first.url).port)
    const at = Date.now()
    first.child.kill("SIGKILL")
    const lost = (await before).filter(({ error }) => error !== undefined).length
    const restarting = lab.hub({ apiKeys, port })
    const back = new Map<unknown, number>()
    const areBack = await lab.until(() => {
      for (const caller of callers) {
        if (caller.transport.state === "open" && !back.has(caller)) back.set(caller, Date.now())
      }
      return back.size === callers.length
    }, 30_000)
    await restarting
    const after = await callAll(300)
    checkCodes(lab, lab.audit(), ["UNAVAILABLE"])
    lab.check("all clients come back", areBack, back.size)
    lab.check("all connections were lost", lost === callers.length, lost)
    const failed = after.filter(({ error }) => error !== undefined).length
    lab.check("all calls succeed then", failed === 0, failed)
    const spread = checkSpread(lab, [...back.values()])
    if (lab.size === "full") lab.check("they take 1 s or more", spread >= 1000, spread)
    // Clients that failed for longer wait longer for the next attempt.
    const away = Math.min(...back.values()) - at
    lab.facts["away"] = `${away} ms`
    lab.checkTime("they take 2 s at most, or as long as it was away", Math.max(2000, away), spread)
  },
}

/** An MCP server on the web dies: the hub shows it as lost with the first call that fails, and finds it again. */
export const deadServer: Scenario = {
  id: "F61",
  title: "HTTP MCP server killed, back after 2 s",
  async run(lab) {
    await lab.startBroker()
    const workers = await lab.workers(2)
    const inner = await lab.hub()
    const hub = await lab.hub({ sources: { tools: { mcp: inner.mcpUrl } } })
    const [direct, byTool] = [FAR, TOOLS].map((prefix) =>
      lab.callerOver(createWebSocketTransport(hub.wsUrl), prefix),
    )
    if (direct === undefined || byTool === undefined) return
    await lab.warm(direct, workers)
    await lab.warm(byTool, workers)
    const loading = Promise.all([direct, byTool].map((caller) => caller.rate(modestLoad(lab))))
    await sleep(1000)
    inner.child.kill("SIGKILL")
    await inner.child.exit
    const first = await byTool.call({ ms: 1 })
    const state = await lab.stateOf(hub, "tools")
    await sleep(2000)
    await lab.hub({ port: Number(new URL(inner.url).port) })
    const isBack = await lab.until(
      async () => (await lab.stateOf(hub, "tools")) === "ready",
      60_000,
    )
    await loading
    await Promise.all([direct.settled(), byTool.settled()])
    const last = await byTool.call({ ms: 1, timeout: 20_000 })
    checkCodes(lab, lab.audit(), ["UNAVAILABLE"])
    lab.check("a call of it fails", first.error !== undefined, first.error?.code ?? "ok")
    lab.check("it is shown as lost right then", state === "lost", state)
    lab.check("it is shown as ready again", isBack, "")
    lab.check("and serves", last.error === undefined, last.error?.message ?? "ok")
    const hit = failedCalls(lab).filter(({ operationId }) => operationId.startsWith(FAR)).length
    lab.check("calls past it succeed", hit === 0, hit)
  },
}

/** A hub is stopped while calls run that came over each of its transports: all of them are answered. */
export const hubDrained: Scenario = {
  id: "F68",
  title: "hub stopped with calls in flight",
  async run(lab) {
    await lab.startBroker()
    const workers = await lab.workers(2)
    const inner = await lab.hub()
    const outer = await lab.hub({ sources: { tools: { mcp: inner.mcpUrl } } })
    const callers = [
      lab.callerOver(createWebSocketTransport(inner.wsUrl), FAR),
      lab.callerOver(createHTTPTransport(inner.url), FAR),
      lab.callerOver(createWebSocketTransport(outer.wsUrl), TOOLS),
    ]
    for (const caller of callers) await lab.warm(caller, workers)
    const before = lab.journal().entries.filter(({ what }) => what === "start").length
    const count = lab.pick(20, 20, 5)
    for (const caller of callers) caller.burst(count, { ms: 3000, timeout: 20_000 })
    const all = before + count * callers.length
    const started = (): boolean =>
      lab.journal().entries.filter(({ what }) => what === "start").length >= all
    lab.check("all calls run", await lab.until(started, 10_000), "")
    inner.child.kill("SIGTERM")
    const { code, signal } = await inner.child.exit
    await Promise.all(callers.map((caller) => caller.settled()))
    checkCodes(lab, lab.audit(), [])
    lab.check("the hub ends in order", code === 0, signal ?? `${code}`)
  },
}

/** A hub opens its sources again, and gets new configurations, while it is called: no call fails. */
export const hubReloaded: Scenario = {
  id: "F69",
  title: "hub reloaded under load",
  async run(lab) {
    await lab.startBroker()
    const workers = await lab.workers(2)
    const hub = await lab.hub()
    const callers = [
      lab.callerOver(createWebSocketTransport(hub.wsUrl), FAR),
      lab.callerOver(createHTTPTransport(hub.url), FAR),
    ]
    for (const caller of callers) await lab.warm(caller, workers)
    // Few enough for the hub's limit of calls per caller, also if they wait for a reload.
    const load = { ...modestLoad(lab), perSecond: 10, timeout: 20_000 }
    const loading = Promise.all(callers.map((caller) => caller.rate(load)))
    let reloads = 0
    for (const until = Date.now() + load.seconds * 1000; Date.now() < until; reloads++) {
      await hub.child.ask({ type: "reload" }, "reload")
      await sleep(100)
    }
    await loading
    await Promise.all(callers.map((caller) => caller.settled()))
    checkCodes(lab, lab.audit(), [])
    lab.facts["reloads"] = reloads
  },
}
