import { idOf } from "../../core/define.ts"
import { isForwarded } from "../../core/error-marks.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { readPolicies, type AppliedPolicy } from "../../core/policy-state.ts"
import { MAX_RESULT_BYTES, MAX_SENT_CHARACTERS } from "../../core/socket-sizes.ts"
import type { OperationSpec } from "../../core/types.ts"
import { uploadOf } from "../../http-client/file-bodies.ts"
import { isRecord, stringsOf } from "../../internal/guards.ts"
import { silentLogger } from "../../internal/logger.ts"
import { FILE_MARK } from "../../schema/files.ts"
import type { createClient as CreateClient } from "../../index.ts"
import type { ApprovalTest } from "../../core/approvals.ts"
import type { TestedCall } from "../../hub/approval-routes.ts"
import type { SourceStatus } from "../../hub/model.ts"
import type { ListedOperation, ListQuery, Target, TargetCallOptions } from "../model.ts"
import type { HubAddress } from "./hub-address.ts"
import { getFromHub, hubHeaders, MAX_BYTES, withCure } from "./hub-client.ts"
import { resolveId, type FailedSource } from "./lookup.ts"

const PAGE = 500
// Prevents an endless listing.
const MAX_PAGES = 200

type HubClient = ReturnType<typeof CreateClient>

/** A running hub, through its HTTP gateway; calls that may ask questions go over a WebSocket, if there is one. */
export class RemoteTarget implements Target {
  failures: readonly FailedSource[] = []
  readonly #address: HubAddress
  readonly #signal: AbortSignal
  #opened: Promise<HubClient> | undefined
  /** The specs that were found. */
  readonly #specs = new Map<string, OperationSpec>()

  constructor(address: HubAddress, signal: AbortSignal) {
    this.#address = address
    this.#signal = signal
  }

  async list(query: ListQuery): Promise<{ operations: ListedOperation[]; total: number }> {
    const [operations] = await Promise.all([this.#listAll(query), this.#lookAtSources()])
    const { limit = operations.length } = query
    return { operations: operations.slice(0, limit), total: operations.length }
  }

  async find(id: string): Promise<OperationSpec> {
    try {
      return await this.#describe(id)
    } catch (error) {
      if (!isCallError(error, "OPERATION_NOT_FOUND")) throw error
    }
    const { operations } = await this.list({})
    const ids = operations.map((operation) => operation.id)
    return await this.#describe(resolveId(id, ids, this.failures))
  }

  /** A hub describes them with the operation. */
  policies(spec: OperationSpec): Promise<readonly AppliedPolicy[]> {
    return Promise.resolve(readPolicies(spec))
  }

  async complete(
    spec: OperationSpec,
    argument: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[]> {
    const query = new URLSearchParams({ argument, given: JSON.stringify(given) })
    const answer = await this.#get(`/hub/complete/${encodeURIComponent(idOf(spec))}?${query}`)
    return isRecord(answer) ? stringsOf(answer["values"]) : []
  }

  async testApproval(call: TestedCall): Promise<ApprovalTest> {
    const answer = await getFromHub(this.#address, "/hub/approvals/test", this.#signal, call)
    return answer as ApprovalTest
  }

  async execute(id: string, input: unknown, options: TargetCallOptions): Promise<ResponseEnvelope> {
    const { signal, timeout, requestInput, dryRun } = options
    // Files are streamed over HTTP.
    const hasFiles =
      uploadOf(input, -1) !== undefined ||
      Object.hasOwn(this.#specs.get(id)?.outputSchema ?? {}, FILE_MARK)
    if (requestInput !== undefined && !hasFiles) {
      const envelope = await this.#callOverSocket(id, input, options)
      if (envelope !== undefined) return envelope
    }
    try {
      return await (await this.#client).call(id, input, { signal, timeout, dryRun })
    } catch (error) {
      throw withCure(error, this.#address.url)
    }
  }

  async *subscribe(
    id: string,
    input: unknown,
    { signal, timeout }: TargetCallOptions,
  ): AsyncGenerator<ResponseEnvelope, void, void> {
    try {
      yield* (await this.#client).subscribe(id, input, { signal, timeout })
    } catch (error) {
      throw withCure(error, this.#address.url)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#opened)?.close()
  }

  get #client(): Promise<HubClient> {
    return (this.#opened ??= clientOf(this.#address))
  }

  /**
   * Calls over a WebSocket, over which the hub can ask questions and report progress.
   *
   * `undefined` if the call has to be made over HTTP: there is no WebSocket, or a result is too large for one.
   */
  async #callOverSocket(
    id: string,
    input: unknown,
    options: TargetCallOptions,
  ): Promise<ResponseEnvelope | undefined> {
    if ((JSON.stringify(input)?.length ?? 0) > MAX_SENT_CHARACTERS) return undefined
    const { url, token } = this.#address
    const { createClient } = await import("../../index.ts")
    const { createWebSocketTransport } = await import("../../websocket.ts")
    const transport = createWebSocketTransport(`${url}/ws?maxResultBytes=${MAX_RESULT_BYTES}`, {
      token,
      // Decided before, with the address.
      insecure: true,
      reconnect: false,
      connectTimeout: 5000,
      maxFrameBytes: MAX_RESULT_BYTES,
      logger: silentLogger,
    })
    await using client = createClient(transport, { logger: silentLogger })
    try {
      return await client.call(id, input, options)
    } catch (error) {
      if (!isCallError(error)) throw error
      const isQuery = this.#specs.get(id)?.type === "query"
      const isTooLarge = error.code === "PAYLOAD_TOO_LARGE" && isQuery
      if (isTooLarge || (!isForwarded(error) && !error.mayHaveExecuted)) return undefined
      throw error
    }
  }

  /** Loads the failed sources and reasons, which only administrators of a hub may see. */
  async #lookAtSources(): Promise<void> {
    const data = await this.#get("/hub/sources").catch(() => undefined)
    const { sources } = isRecord(data) ? data : {}
    if (!Array.isArray(sources)) return
    this.failures = sources
      .filter(isFailedSource)
      .map(({ name, namespace, reason = "No reason was given." }) => ({ name, namespace, reason }))
  }

  async #describe(id: string): Promise<OperationSpec> {
    const spec = (await this.#get(`/operations/${encodeURIComponent(id)}`)) as OperationSpec
    this.#specs.set(`${spec.namespace}.${spec.name}`, spec)
    return spec
  }

  async #listAll({ query, namespace, type }: ListQuery): Promise<ListedOperation[]> {
    const asked = new URLSearchParams({ limit: String(PAGE) })
    if (query !== undefined) asked.set("query", query)
    if (namespace !== undefined) asked.set("namespace", namespace)
    if (type !== undefined) asked.set("type", type)
    const all: ListedOperation[] = []
    for (let page = 0; page < MAX_PAGES; page++) {
      const data = await this.#get(`/operations?${asked.toString()}`)
      const { operations, nextCursor } = isRecord(data) ? data : {}
      if (!Array.isArray(operations)) throw notAList(this.#address.url)
      all.push(...(operations as ListedOperation[]))
      if (typeof nextCursor !== "string") break
      asked.set("cursor", nextCursor)
    }
    return all
  }

  async #get(path: string): Promise<unknown> {
    return await getFromHub(this.#address, path, this.#signal)
  }
}

/** A client over HTTP. The hub limits the time of a call; whether the token may be sent was decided with the address. */
async function clientOf(address: HubAddress, fetch?: typeof globalThis.fetch): Promise<HubClient> {
  const { createClient } = await import("../../index.ts")
  const { createHTTPTransport } = await import("../../http.ts")
  const transport = createHTTPTransport(address.url, {
    headers: hubHeaders(address),
    fetch,
    batch: false,
    maxResponseBytes: MAX_BYTES,
    insecure: true,
  })
  return createClient(transport, { timeout: Number.POSITIVE_INFINITY, logger: silentLogger })
}

function isFailedSource(
  value: unknown,
): value is Pick<SourceStatus, "name" | "namespace" | "reason"> {
  if (!isRecord(value) || value["state"] !== "failed") return false
  const { name, namespace, reason = "" } = value
  return [name, namespace, reason].every((text) => typeof text === "string")
}

function notAList(url: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `${url}/operations is not a list of operations. Is it the address of a hub?`,
    { retryable: false },
  )
}
