import { CallError } from "../../core/errors.ts"
import { readEvents } from "../../http-client/events.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { readPolicies } from "../../core/policy-state.ts"
import type { AppliedPolicy } from "../../core/policy-state.ts"
import { isRecord } from "../../internal/guards.ts"
import type { OperationSpec } from "../../core/types.ts"
import { FILE_MARK } from "../../schema/files.ts"
import { localEnvelope } from "../../core/envelope.ts"
import { decodeEnvelope, encodeValue } from "../../core/envelope-codec.ts"
import { downloadOf, uploadOf } from "../../http-client/file-bodies.ts"
import { FILE_PREFERENCE } from "../../internal/headers.ts"
import type {
  ListedOperation,
  ListQuery,
  PreparedCall,
  Target,
  TargetCallOptions,
} from "../model.ts"
import type { SourceStatus } from "../../hub/model.ts"
import type { HubAddress } from "./hub-address.ts"
import { HubClient, hubError } from "./hub-client.ts"
import type { HubRequest } from "./hub-client.ts"
import { resolveId } from "./lookup.ts"
import type { FailedSource } from "./lookup.ts"

const PAGE = 500
// Prevents an endless listing.
const MAX_PAGES = 200

/** A running hub, through its HTTP gateway; calls that may ask questions go over a WebSocket, if there is one. */
export class RemoteTarget implements Target {
  failures: readonly FailedSource[] = []
  readonly #client: HubClient
  readonly #address: HubAddress
  readonly #signal: AbortSignal
  /** The specs that were found. */
  readonly #specs = new Map<string, OperationSpec>()

  constructor(address: HubAddress, signal: AbortSignal) {
    this.#client = new HubClient(address)
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
      if ((error as { code?: unknown }).code !== "OPERATION_NOT_FOUND") throw error
    }
    const { operations } = await this.list({})
    const ids = operations.map((operation) => operation.id)
    return await this.#describe(resolveId(id, ids, this.failures))
  }

  /** A hub describes them with the operation. */
  policies(spec: OperationSpec): Promise<readonly AppliedPolicy[]> {
    return Promise.resolve(readPolicies(spec))
  }

  async execute(id: string, input: unknown, options: TargetCallOptions): Promise<ResponseEnvelope> {
    const spec = this.#specs.get(id)
    if (options.requestInput !== undefined && !hasFiles(spec, input)) {
      const { callOverSocket } = await import("./hub-socket.ts")
      const envelope = await callOverSocket(this.#address, id, input, options, spec?.type)
      if (envelope !== undefined) return envelope
    }
    const response = await this.#client.open(await uploadRequest(id, input, options))
    const file = downloadOf((name) => response.headers[name], response.body)
    if (file !== undefined) return localEnvelope(file, id)
    return decodeEnvelope(await this.#client.read(response, callRequest(id, undefined, options)))
  }

  async *subscribe(
    id: string,
    input: unknown,
    options: TargetCallOptions,
  ): AsyncGenerator<ResponseEnvelope, void, void> {
    const request = { ...callRequest(id, input, options), accept: "text/event-stream" }
    const { body } = await this.#client.open(request)
    if (body === null) throw endless(id)
    const { secrets, url } = this.#client
    const reading = { signal: options.signal, secrets, operationId: id, origin: url }
    for await (const { event, data } of readEvents(body, "sse", reading)) {
      if (event === "end") return
      if (event === "error") throw hubError(data, url) ?? endless(id)
      if (event === undefined) yield decodeEnvelope(data)
    }
    throw endless(id)
  }

  async prepare(id: string, input: unknown): Promise<PreparedCall> {
    const request = await uploadRequest(id, input, { signal: this.#signal })
    const { method, path, body } = request
    const headers = this.#client.headers(request, false)
    const shown = typeof body === "object" ? "(a form with files)" : body
    return { method, url: `${this.#client.url}${path}`, headers, body: shown }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Loads the failed sources and reasons, which only administrators of a hub may see. */
  async #lookAtSources(): Promise<void> {
    const request = { method: "GET", path: "/hub/sources", signal: this.#signal } as const
    const data = await this.#client.json(request).catch(() => undefined)
    const { sources } = isRecord(data) ? data : {}
    if (!Array.isArray(sources)) return
    this.failures = sources
      .filter(isFailedSource)
      .map(({ name, namespace, reason = "No reason was given." }) => ({ name, namespace, reason }))
  }

  async #describe(id: string): Promise<OperationSpec> {
    const path = `/operations/${encodeURIComponent(id)}`
    const data = await this.#client.json({ method: "GET", path, signal: this.#signal })
    const spec = data as OperationSpec
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
      const path = `/operations?${asked.toString()}`
      const data = await this.#client.json({ method: "GET", path, signal: this.#signal })
      const { operations, nextCursor } = isRecord(data) ? data : {}
      if (!Array.isArray(operations)) throw notAList(this.#client.url)
      all.push(...(operations as ListedOperation[]))
      if (typeof nextCursor !== "string") break
      asked.set("cursor", nextCursor)
    }
    return all
  }
}

/** Whether files are sent or returned: HTTP streams those. */
function hasFiles(spec: OperationSpec | undefined, input: unknown): boolean {
  return uploadOf(input, -1) !== undefined || Object.hasOwn(spec?.outputSchema ?? {}, FILE_MARK)
}

function isFailedSource(
  value: unknown,
): value is Pick<SourceStatus, "name" | "namespace" | "reason"> {
  if (!isRecord(value) || value["state"] !== "failed") return false
  const { name, namespace, reason = "" } = value
  return [name, namespace, reason].every((text) => typeof text === "string")
}

function callRequest(
  id: string,
  input: unknown,
  { signal, timeout }: TargetCallOptions,
): HubRequest {
  return {
    method: "POST",
    path: `/operations/${encodeURIComponent(id)}`,
    signal,
    timeout,
    operationId: id,
    body: input === undefined ? undefined : JSON.stringify(encodeValue(input).value),
  }
}

/** The request for a call; files are sent as such, with their names. */
async function uploadRequest(
  id: string,
  input: unknown,
  options: TargetCallOptions,
): Promise<HubRequest> {
  const upload = uploadOf(input, -1)
  const prefer = { prefer: FILE_PREFERENCE }
  if (upload === undefined) return { ...callRequest(id, input, options), headers: prefer }
  return {
    ...callRequest(id, undefined, options),
    headers: { ...prefer, ...upload.headers },
    body: await upload.body(),
  }
}

function endless(id: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `The connection to the hub was lost before the stream of "${id}" had ended. Watch it again.`,
    { operationId: id },
  )
}

function notAList(url: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `${url}/operations is not a list of operations. Is it the address of a hub?`,
    { retryable: false },
  )
}
