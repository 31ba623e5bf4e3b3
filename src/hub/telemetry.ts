import type { TelemetryConfig } from "../config/model.ts"
import { CallError } from "../core/errors.ts"
import type { OperationRegistry } from "../engine/registry.ts"
import { importError } from "../internal/import-peer.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import { reasonOf } from "../internal/message-text.ts"
import { withTimeout } from "../internal/wait.ts"
import { fill, type Resolve } from "./resolve-references.ts"

/** The packages that send spans and metrics to a collector. */
export const TELEMETRY_PACKAGES: readonly string[] = [
  "api",
  "sdk-trace",
  "sdk-metrics",
  "resources",
  "context-async-hooks",
  "exporter-trace-otlp-http",
  "exporter-metrics-otlp-http",
].map((name) => `@opentelemetry/${name}`)

/** Milliseconds in which the last spans and metrics have to be sent. */
const FLUSH_MS = 5000
/** Milliseconds in which one batch has to be sent, with all attempts. */
const SEND_MS = 4000
/** Milliseconds between log lines about a collector that is away. */
const QUIET_MS = 60_000

interface Parts {
  readonly registry: OperationRegistry
  readonly logger: Logger
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly resolve: Resolve
}

/**
 * Sends spans and metrics of a hub's calls to a collector. No call waits for it, and none fails if it is away.
 *
 * It uses the application's context manager and tracer provider where they are set; else it sets its own.
 */
export class HubTelemetry {
  readonly #parts: Parts
  /** Settles when spans are made, or when that failed, which is logged. */
  readonly first: Promise<void>
  #close: () => Promise<unknown> = () => Promise.resolve()
  #quietUntil = Number.NEGATIVE_INFINITY
  #isClosed = false

  /** `undefined` if nothing is to be sent. */
  static start(config: TelemetryConfig | undefined, parts: Parts): HubTelemetry | undefined {
    const otlp = config?.otlp ?? parts.env["OTEL_EXPORTER_OTLP_ENDPOINT"]
    if (config === undefined || otlp === undefined) return undefined
    return new HubTelemetry({ ...config, otlp }, parts)
  }

  private constructor(config: TelemetryConfig, parts: Parts) {
    this.#parts = parts
    this.first = this.#open(config).catch((error: unknown) =>
      parts.logger.error("Spans and metrics are not sent", { error: reasonOf(error) }),
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.first
    const late = (): void => this.#parts.logger.warn("The last spans and metrics were not sent")
    await withTimeout(this.#close(), FLUSH_MS, late)
  }

  async #open(config: TelemetryConfig): Promise<void> {
    const { registry, env, resolve } = this.#parts
    const { otlp, headers, service, sample, incoming, outgoing } = await fill(
      { ...config },
      resolve,
      undefined,
      "telemetry",
    )
    const sdk = await loadSDK()
    if (this.#isClosed) return
    const target = (signal: string) => ({
      timeoutMillis: SEND_MS,
      url: new URL(`v1/${signal}`, otlp?.endsWith("/") === true ? otlp : `${otlp}/`).href,
      headers: { ...headers },
    })
    const name = service ?? env["OTEL_SERVICE_NAME"] ?? "operations"
    const resource = sdk.resourceFromAttributes({ "service.name": name })
    const exporter = this.#watched(new sdk.OTLPTraceExporter(target("traces")))
    const root = sample === undefined ? undefined : new sdk.TraceIdRatioBasedSampler(sample)
    const tracerProvider = new sdk.TracerProvider({
      resource,
      spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
      ...(root && { sampler: new sdk.ParentBasedSampler({ root }) }),
    })
    const readers = [
      new sdk.PeriodicExportingMetricReader({
        exporter: this.#watched(new sdk.OTLPMetricExporter(target("metrics"))),
      }),
    ]
    const meterProvider = new sdk.MeterProvider({ resource, readers })
    const manager = new sdk.AsyncLocalStorageContextManager()
    const isOurs = sdk.context.setGlobalContextManager(manager.enable())
    const isGlobal = sdk.trace.setGlobalTracerProvider(tracerProvider)
    const { instrument } = await import("../otel/instrument.ts")
    const telemetry = instrument(registry, { tracerProvider, meterProvider, incoming, outgoing })
    this.#close = async () => {
      telemetry.stop()
      if (isOurs) sdk.context.disable()
      if (isGlobal) sdk.trace.disable()
      await Promise.allSettled([tracerProvider.shutdown(), meterProvider.shutdown()])
    }
  }

  /** Logs that a collector does not accept what is sent, once in a while. */
  #watched<TItems, TExporter extends Exporter<TItems>>(
    exporter: TExporter & Exporter<TItems>,
  ): TExporter {
    const send = exporter.export.bind(exporter)
    exporter.export = (items, done) =>
      send(items, (result) => {
        const now = this.#parts.clock.now()
        if (result.code !== 0 && now >= this.#quietUntil) {
          this.#quietUntil = now + QUIET_MS
          const reason = result.error === undefined ? "unknown" : reasonOf(result.error)
          this.#parts.logger.warn("The collector of telemetry did not accept data", { reason })
        }
        done(result)
      })
    return exporter
  }
}

interface Exporter<TItems> {
  export(items: TItems, done: (result: { code: number; error?: Error }) => void): void
}

/** Loads the SDK; rejects with the command that installs it. */
// eslint-disable-next-line typescript/explicit-function-return-type
async function loadSDK() {
  try {
    // One after the other: bundlers leave a missing package alone only where the import is awaited in the `try` block.
    return {
      ...(await import("@opentelemetry/api")),
      ...(await import("@opentelemetry/sdk-trace")),
      ...(await import("@opentelemetry/sdk-metrics")),
      ...(await import("@opentelemetry/resources")),
      ...(await import("@opentelemetry/context-async-hooks")),
      ...(await import("@opentelemetry/exporter-trace-otlp-http")),
      ...(await import("@opentelemetry/exporter-metrics-otlp-http")),
    }
  } catch (cause) {
    const isMissing = TELEMETRY_PACKAGES.some((name) => importError("", name, cause) !== cause)
    if (!isMissing) throw cause
    const message = `telemetry needs optional packages. Install them: npm install ${TELEMETRY_PACKAGES.join(" ")}`
    throw new CallError("UNAVAILABLE", message, { cause, retryable: false })
  }
}
