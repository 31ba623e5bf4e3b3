import { jsonAnswer } from "./answer.ts"
import { requirementOf } from "../../core/access.ts"
import type { Identity } from "../../core/types.ts"
import { systemClock } from "../../internal/clock.ts"
import { turn } from "../../internal/defer.ts"
import { isRecord } from "../../internal/guards.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { maySee } from "../../tools/expose.ts"
import { documentSteps } from "./openapi/document.ts"
import type { DocumentOptions, DocumentSecurity, Steps } from "./openapi/model.ts"
import { badRequest, type RouteRequest } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"

/** Maximum number of cached documents, one per view of the API, and of their characters. The latest is always kept. */
const MAX_VIEWS = 16
const MAX_CACHED = 32 * 1024 * 1024

/** Characters that are written at once. */
const PIECE = 256 * 1024

/** Milliseconds of work before other requests have a turn. */
const SLICE = 8

/** Answers with the document of the operations that the caller may call. Discard it when the registry has changed. */
export function createDocuments(
  context: HTTPContext,
  place: Pick<DocumentOptions, "restPath" | "routeOf">,
): (request: RouteRequest) => Promise<HTTPAnswer> {
  const documents = new Map<string, KeptDocument>()
  let access: AccessKeys | undefined
  return async ({ incoming, caller }) => {
    const openapi = versionOf(incoming.query)
    const { mountPath } = incoming
    const { identity } = caller
    const view = identity && viewOf(context, identity, (access ??= accessKeys(context)))
    const key = `${openapi} ${mountPath ?? "."} ${view ?? ""}`
    let document = documents.get(key)
    if (document === undefined) {
      const text = inSlices(textSteps(context, identity, { ...place, openapi, mountPath }))
      const latest: KeptDocument = { text, length: undefined }
      documents.set(key, (document = latest))
      // A failure is answered to everyone who waits, and tried again by the next.
      text.then(
        ({ length }) => {
          latest.length = length
          makeRoom(documents, latest)
        },
        () => documents.clear(),
      )
    }
    return answerOf(await document.text)
  }
}

/** A document in pieces that are short enough to be written at once. */
interface DocumentText {
  readonly pieces: readonly string[]
  readonly length: number
}

/** A document that is being built, or was; its length is known then. */
interface KeptDocument {
  readonly text: Promise<DocumentText>
  length: number | undefined
}

interface DocumentPlace extends Pick<DocumentOptions, "routeOf"> {
  readonly openapi: "3.1" | "3.2"
  readonly mountPath: string | undefined
  readonly restPath: string
}

function* textSteps(
  { registry, options }: HTTPContext,
  identity: Identity | undefined,
  { openapi, mountPath, restPath, routeOf }: DocumentPlace,
): Steps<DocumentText> {
  const { title, version, description, basePath, isExposed, auth, authenticate } = options
  const security: DocumentSecurity[] = []
  if (auth?.apiKeys !== undefined) security.push("apiKey")
  if (auth?.jwt !== undefined) security.push("jwt")
  if (authenticate !== undefined || auth?.authenticate !== undefined) security.push("bearer")
  const document = yield* documentSteps(registry, {
    title,
    version,
    description,
    restPath: `${mountPath ?? ""}${basePath}${restPath}`,
    basePath: `${mountPath ?? ""}${basePath}`,
    routeOf,
    // With an unknown prefix, paths are relative to the document.
    ...(mountPath === undefined && basePath === "" && { servers: [{ url: "." }] }),
    security,
    openapi,
    isExposed,
    identity,
  })
  const pieces: string[] = []
  let length = 0
  let parts: string[] = []
  let size = 0
  const join = (): void => {
    pieces.push(parts.join(""))
    length += size
    parts = []
    size = 0
  }
  // Down to each path and each schema.
  for (const part of jsonParts(document, 2)) {
    parts.push(part)
    size += part.length
    if (size > PIECE) join()
    yield
  }
  join()
  return { pieces, length }
}

/** The JSON of an object, its members one by one to some depth. */
function* jsonParts(value: Readonly<Record<string, unknown>>, depth: number): Generator<string> {
  let separator = "{"
  for (const key of Object.keys(value)) {
    const member = value[key]
    const start = `${separator}${JSON.stringify(key)}:`
    if (depth > 0 && isRecord(member)) {
      yield start
      yield* jsonParts(member, depth - 1)
    } else {
      const text = JSON.stringify(member) as string | undefined
      if (text === undefined) continue
      yield start + text
    }
    separator = ","
  }
  yield separator === "{" ? "{}" : "}"
}

/** Runs steps; other work has a turn after each slice. */
async function inSlices<TResult>(steps: Steps<TResult>): Promise<TResult> {
  let end = systemClock.now() + SLICE
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (systemClock.now() < end) continue
    await turn()
    end = systemClock.now() + SLICE
  }
}

/** A short document is one text. */
function answerOf({ pieces }: DocumentText): HTTPAnswer {
  const [only = ""] = pieces
  if (pieces.length <= 1) return jsonAnswer(only)
  const { status, headers } = jsonAnswer("")
  return {
    status,
    headers,
    body: {
      async run(sink) {
        for (const piece of pieces) {
          if (sink.isGone) return
          if (!sink.write(piece)) await sink.drained()
        }
      },
    },
  }
}

/** Drops the oldest finished documents until those that are kept are few and short enough together. */
function makeRoom(documents: Map<string, KeptDocument>, latest: KeptDocument): void {
  let total = 0
  for (const { length = 0 } of documents.values()) total += length
  for (const [key, document] of documents) {
    if (total <= MAX_CACHED && documents.size <= MAX_VIEWS) return
    if (document.length === undefined || document === latest) continue
    documents.delete(key)
    total -= document.length
  }
}

function versionOf(query: string): "3.1" | "3.2" {
  const version = new URLSearchParams(query).get("version") ?? "3.1"
  if (version === "3.1" || version === "3.2") return version
  throw badRequest("The parameter version must be 3.1 or 3.2.")
}

/** What of an identity decides which operations it may call. */
interface AccessKeys {
  readonly scopes: ReadonlySet<string>
  readonly hasResources: boolean
}

function accessKeys({ registry }: HTTPContext): AccessKeys {
  const scopes = new Set<string>()
  let hasResources = false
  for (const { accessControl } of registry.getAllSpecs()) {
    const requirement = requirementOf(accessControl)
    if (requirement === undefined) continue
    for (const scope of requirement.all) scopes.add(scope)
    for (const scope of requirement.any) scopes.add(scope)
    hasResources ||= requirement.resourceType !== undefined
  }
  return { scopes, hasResources }
}

/** Key of the operations that a caller sees: the scopes that matter, or one character for each operation. */
function viewOf(
  context: HTTPContext,
  identity: Identity,
  { scopes, hasResources }: AccessKeys,
): string {
  if (!hasResources) {
    const own = new Set(identity.scopes.filter((scope) => scopes.has(scope)))
    return JSON.stringify([...own].toSorted())
  }
  let view = ""
  for (const spec of context.registry.getAllSpecs()) view += maySee(spec, identity) ? "1" : "0"
  return view
}
