import type { NodeRequestLike, NodeResponseLike } from "../mcp/node.ts"
import { settlePath } from "./options.ts"
import type { HTTPHandler } from "./model.ts"

/** Something else that answers requests, as a server of web requests or of Node's; `MCPServer` is one. */
export interface ServerLike {
  fetch(request: Request, caller?: never): Promise<Response>
  node(request: NodeRequestLike, response: NodeResponseLike, body?: unknown): unknown
}

export type HTTPMount = ServerLike | HTTPHandler

/** What answers in place of the API, by path. */
export class Mounts {
  readonly #byPath: readonly (readonly [string, HTTPMount])[]

  constructor(mounts: Readonly<Record<string, HTTPMount>>) {
    this.#byPath = Object.entries(mounts).map(([path, mount]) => {
      const settled = settlePath("mounts", path)
      if (settled === "") throw new TypeError(`toHTTP(): mounts needs paths such as "/mcp".`)
      if (typeof mount !== "function" && typeof mount?.fetch !== "function") {
        throw new TypeError(
          `toHTTP(): mounts["${path}"] must have fetch and node, or be a handler.`,
        )
      }
      return [settled, mount]
    })
  }

  get isEmpty(): boolean {
    return this.#byPath.length === 0
  }

  /** What answers a path: exactly that, or below it. */
  find(path: string): HTTPMount | undefined {
    for (const [prefix, mount] of this.#byPath) {
      if (!path.startsWith(prefix)) continue
      if (path.length === prefix.length || path[prefix.length] === "/") return mount
    }
    return undefined
  }
}
