import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { trace } from "@opentelemetry/api"
import { describe, expect, onTestFinished, test } from "vitest"
import { resolveConfig } from "../../src/config.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import type { Hub } from "../../src/hub/model.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { hashApiKey } from "../../src/to-http.ts"
import { silentLogger } from "../../src/testing.ts"
import { operation } from "../support/operations.ts"
import { collect } from "../otel/collect.ts"
import { folder } from "./support.ts"

interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A collector that answers with a status, or never. */
async function collector(status: number | undefined) {
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body })
      if (status !== undefined) response.writeHead(status).end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const CANARY = "canary-5f81ad-b7730c"

function hubWith(
  telemetry: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  server: Readonly<Record<string, unknown>> = {},
): { hub: Hub; warned: string[] } {
  const warned: string[] = []
  const logger = { ...silentLogger, warn: (text: string) => void warned.push(text) }
  const hub = createHub(resolveConfig({ telemetry, server }, { baseDir: folder() }), {
    logger,
    env,
  })
  onTestFinished(() => hub.close())
  hub.registry.register(
    operation("a.echo", {
      handler: (input: { readonly fail?: string }) => {
        if (input.fail !== undefined) throw new Error(input.fail)
        return input
      },
    }) as never,
  )
  return { hub, warned }
}

describe("telemetry of a hub", () => {
  test("sends spans and metrics of calls, and none of what they carry", async () => {
    const { received, url } = await collector(200)
    const { hub } = hubWith(
      { otlp: "${env:COLLECTOR}/", service: "shop", headers: { authorization: "Bearer ${env:T}" } },
      { COLLECTOR: url, T: "t-9" },
      { apiKeys: [{ hash: hashApiKey(CANARY), id: CANARY }] },
    )
    await hub.ready()
    const served = await serveHub(hub, { port: 0, console: false })
    const call = (body: object): Promise<Response> =>
      fetch(`${served.url}/operations/a.echo`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": CANARY, "x-else": CANARY },
        body: JSON.stringify(body),
      })
    expect((await call({ value: CANARY })).status).toBe(200)
    expect((await call({ fail: CANARY })).status).toBe(500)
    await served.close()
    await hub.close()

    expect(new Set(received.map(({ path }) => path))).toEqual(
      new Set(["/v1/traces", "/v1/metrics"]),
    )
    expect(received.every(({ headers }) => headers["authorization"] === "Bearer t-9")).toBe(true)
    const all = received.map(({ body }) => body).join("")
    expect(all).not.toContain(CANARY)
    for (const part of ['"shop"', '"a.echo"', "operations.call.duration", "EXECUTION_ERROR"]) {
      expect(all).toContain(part)
    }
  })

  test.each([
    ["is away", "http://127.0.0.1:9"],
    ["answers 500", 500],
    ["answers 503", 503],
    ["never answers", undefined],
  ])("fails and delays no call when the collector %s, and ends in time", async (_, how) => {
    const { url, received } =
      typeof how === "string" ? { url: how, received: [] } : await collector(how)
    const { hub } = hubWith({ otlp: url })
    await hub.ready()
    const late = Symbol("late")
    // More than the queue of spans holds, and batches are being sent meanwhile.
    for (let burst = 0; burst < 30; burst++) {
      // Whatever waits for a collector takes turns of the event loop; a call takes none.
      const turn = new Promise((resolve) => setImmediate(resolve, late))
      const calls = Array.from({ length: 100 }, () => hub.registry.execute("a.echo", {}))
      const outcome = await Promise.race([Promise.all(calls), turn])
      expect(outcome).not.toBe(late)
      await turn
    }
    await expect.poll(() => typeof how === "string" || received.length > 0).toBe(true)
    const before = performance.now()
    await hub.close()
    // A bound of the design: real time has to pass, and may be late, but not by another wait.
    expect(performance.now() - before).toBeLessThan(8000)
  })

  test("logs a collector that refuses once, not with each batch", async () => {
    const { url } = await collector(400)
    const { hub, warned } = hubWith({}, { OTEL_EXPORTER_OTLP_ENDPOINT: url })
    await hub.ready()
    for (let at = 0; at < 1500; at++) await hub.registry.execute("a.echo", {})
    await hub.close()
    expect(warned).toEqual(["The collector of telemetry did not accept data"])
  })

  test("sends nothing without a collector, or after it was closed", async () => {
    const { received, url } = await collector(200)
    await using without = hubWith({ link: "https://traces.example/{traceId}" }).hub
    await without.ready()
    const { hub } = hubWith({ otlp: url })
    // Before it is ready.
    await hub.close()
    await without.registry.execute("a.echo", {})
    expect(received).toEqual([])
  })

  test("leaves the providers of the application alone", async () => {
    const own = collect()
    trace.setGlobalTracerProvider(own.tracerProvider)
    onTestFinished(() => trace.disable())
    const { received, url } = await collector(200)
    const { hub } = hubWith({ otlp: url })
    await hub.ready()
    await hub.registry.execute("a.echo", {})
    trace.getTracer("mine").startSpan("mine").end()
    await hub.close()
    trace.getTracer("mine").startSpan("later").end()
    expect(own.spans().map(({ name }) => name)).toEqual(["mine", "later"])
    expect(received.some(({ body }) => body.includes('"a.echo"'))).toBe(true)
  })

  test("sends the share of traces that is asked for", async () => {
    const { received, url } = await collector(200)
    const { hub } = hubWith({ otlp: url, sample: 0 })
    await hub.ready()
    await hub.registry.execute("a.echo", {})
    await hub.close()
    expect(received.map(({ path }) => path)).toEqual(["/v1/metrics"])
  })

  test.each([
    [{ otlp: "ftp://a" }, "telemetry.otlp"],
    [{ sample: 2 }, "telemetry.sample"],
    [{ link: "https://traces.example/" }, "{traceId}"],
    [{ link: "javascript:alert({traceId})" }, "telemetry.link"],
    [{ outgoing: "some" }, "telemetry.outgoing"],
    [{ url: "http://a" }, "telemetry"],
  ])("refuses the configuration %j", (telemetry, message) => {
    expect(() => resolveConfig({ telemetry }, { baseDir: "." })).toThrow(message)
  })

  test("warns that another collector needs a restart, and that a new link does not", async () => {
    const { hub, warned } = hubWith({ link: "https://a.example/{traceId}" })
    const apply = (telemetry: object): Promise<void> =>
      hub.apply(resolveConfig({ telemetry }, { baseDir: hub.config.baseDir }))
    await apply({ link: "https://b.example/{traceId}" })
    expect(warned).toEqual([])
    await apply({ otlp: "http://127.0.0.1:9" })
    expect(warned).toEqual(["Other telemetry is used only after the hub is started again"])
  })
})
