import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { context } from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import { SimpleSpanProcessor, TracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace"
import { createRegistry, defineOperation } from "@alkdev/operations"
import { instrument } from "@alkdev/operations/otel"
import { Type } from "@alkdev/operations/type"

// A collector of your own, in place of Jaeger, Tempo or a vendor.
const received: string[] = []
const collector = createServer((request, response) => {
  request.on("data", (chunk) => received.push(String(chunk)))
  request.on("end", () => response.end())
}).listen(0, "127.0.0.1")
await once(collector, "listening")
const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

// With a collector that takes OTLP, this is `new OTLPTraceExporter()`.
const exporter = {
  export(spans: ReadableSpan[], done: (result: { code: number }) => void) {
    const lines = spans.map(({ name, parentSpanContext, attributes }) => {
      const place = parentSpanContext === undefined ? "outermost" : "nested"
      return `${name}: ${place}, ${String(attributes["error.type"] ?? "ok")}`
    })
    fetch(url, { method: "POST", body: lines.join("\n") }).then(
      () => done({ code: 0 }),
      () => done({ code: 1 }),
    )
  },
  shutdown: () => Promise.resolve(),
}

// #region instrument
const tracerProvider = new TracerProvider({
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
})
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

const price = defineOperation({
  type: "query",
  description: "Returns the price of an article",
  inputSchema: Type.Object({ article: Type.String() }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  handler: ({ article }) => article.length * 100,
})
const order = defineOperation({
  type: "mutation",
  description: "Orders an article",
  inputSchema: Type.Object({ article: Type.String() }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: async (input, { call }) => (await call("shop.price", input)).data,
})
const registry = createRegistry({ shop: { price, order } }, { output: "strict" })

const telemetry = instrument(registry, { tracerProvider })
await registry.execute("shop.order", { article: "tea" })
await registry.execute("shop.price", { article: 7 as never }).catch(() => undefined)
// #endregion

await tracerProvider.forceFlush()
console.log(received.toSorted().join("\n"))
telemetry.stop()
collector.close()
