import type { Identity } from "../../core/types.ts"
import { isRecord } from "../../internal/guards.ts"
import { typeName } from "../../internal/message-text.ts"
import { MOUNT, type Mountable, type MountedServer, type MountHost } from "../mount.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"
import type { HTTPAnswer, HTTPHandler, HTTPIncoming, HTTPCaller } from "../exchange.ts"
import { answerFrom } from "../fetch.ts"
import { normalizePath } from "./mount-path.ts"

/**
 * A server that answers web requests and Node requests, such as `MCPServer`.
 *
 * In a server that authenticates, `fetch` gets the caller as its second argument, and `node` its identity in the third.
 */
export interface ServerLike {
  fetch(request: Request, caller?: never): Promise<Response>
  node(
    request: NodeRequestLike,
    response: NodeResponseLike,
    given?: { readonly body?: unknown; readonly identity?: Identity | undefined },
  ): unknown
}

/** Answers requests below a path, for a caller that the server has authenticated. */
export type MountHandler = (
  incoming: HTTPIncoming,
  caller: HTTPCaller,
) => HTTPAnswer | Response | Promise<HTTPAnswer | Response>

/** A mount with its access. */
export interface MountOptions {
  readonly mount: ServerLike | MountHandler
  /**
   * `true`: everyone, without authentication; only hosts and origins are checked.
   * `false`: callers that the server authenticates, within its limits.
   */
  readonly public: boolean
}

/** An MCP server, or another handler, which has to declare its access if the server authenticates. */
export type HTTPMount = ServerLike | MountHandler | MountOptions

/** A resolved mount. */
export interface Mount {
  readonly path: string
  readonly isPublic: boolean
  /** Set for a server that takes part in authentication, and writes refusals itself. */
  readonly mounted?: MountedServer | undefined
  readonly handler?: MountedServer["handle"] | undefined
  readonly server?: ServerLike | undefined
}

/** All mounts, by path. */
export class Mounts {
  readonly all: readonly Mount[]
  readonly #documents = new Map<string, HTTPHandler>()

  constructor(mounts: Readonly<Record<string, HTTPMount>>, host: Omit<MountHost, "name">) {
    this.all = Object.entries(mounts).map(([path, mount]) => resolveMount(path, mount, host))
    for (const { mounted } of this.all) {
      for (const [path, handler] of mounted?.documents ?? []) {
        if (!this.#documents.has(path)) this.#documents.set(path, handler)
      }
    }
  }

  get isEmpty(): boolean {
    return this.all.length === 0
  }

  /** A public document of a mount. */
  document(path: string): HTTPHandler | undefined {
    return this.#documents.get(path)
  }

  /** The mount at a path or above it. */
  find(path: string): Mount | undefined {
    for (const mount of this.all) {
      const { length } = mount.path
      if (!path.startsWith(mount.path)) continue
      if (path.length === length || path[length] === "/") return mount
    }
    return undefined
  }
}

function resolveMount(key: string, value: HTTPMount, host: Omit<MountHost, "name">): Mount {
  const name = `mounts["${key}"]`
  const path = normalizePath("mounts", key)
  if (path === "") throw new TypeError(`toHTTP(): mounts needs paths such as "/mcp".`)
  const options = isMountOptions(value) ? value : undefined
  const mount = options === undefined ? (value as ServerLike | MountHandler) : options.mount
  const isPublic = options?.public ?? false
  if (isMountable(mount)) {
    const authenticate = isPublic ? undefined : host.authenticate
    const mounted = mount[MOUNT]({ ...host, name, authenticate })
    return { path, isPublic, mounted, handler: mounted.handle }
  }
  if (host.authenticate !== undefined && options === undefined) {
    throw new TypeError(
      `toHTTP(): ${name} does not know its callers, and this server authenticates its callers. ` +
        "Write { mount, public: false } to let in only callers that the server authenticates, and to get " +
        "them as the last argument; or { mount, public: true } to let in everyone.",
    )
  }
  return typeof mount === "function"
    ? { path, isPublic, handler: async (...request) => checked(await mount(...request), name) }
    : { path, isPublic, server: mount }
}

function checked(answer: unknown, name: string): HTTPAnswer {
  if (answer instanceof Response) return answerFrom(answer)
  const status = isRecord(answer) ? answer["status"] : undefined
  if (typeof status === "number" && status >= 200 && status <= 599) return answer as never
  throw new TypeError(
    `The handler of ${name} returned ${typeName(answer)}. Return a Response, or { status, headers, body }.`,
  )
}

function isMountOptions(mount: HTTPMount): mount is MountOptions {
  return typeof mount === "object" && mount !== null && "mount" in mount && !("fetch" in mount)
}

function isMountable(mount: object): mount is Mountable {
  return MOUNT in mount
}
