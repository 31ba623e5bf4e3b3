// What can be wrong with an awkward server, in one place: the flags of the process over stdio, and the
// options of the server over HTTP. Nothing is wrong unless it is asked for.

/** Every fault that both transports have. As a flag `crashAfter: 2` is `--crash-after=2`. */
export interface Faults {
  /** What it speaks: `initialize`, single requests of 2026-07-28, or both. */
  era: "legacy" | "modern" | "dual"
  /** The revision that it answers `initialize` with, whatever is asked for. */
  version: string
  /** How a modern server refuses `initialize`: by version (-32022), -32601, or -32602. */
  refusal: "version" | "method" | "params"
  /** Requests for methods that it does not know are never answered. */
  silent: boolean
  /** How a legacy server refuses what is modern: an error code. */
  unknownCode: number

  /** Tools in lists of this many pages. */
  pages: number
  /** The last page names the first one's cursor. */
  loop: boolean
  /** The cursor of the second page is the empty string. */
  emptyCursor: boolean
  /** Every page has a new cursor; there is no end. */
  endless: boolean
  /** More tools of the same kind, named `filler_0`, `filler_1`... */
  fillers: number
  /** Groups of odd tools, comma-separated: see definitions.ts. */
  groups: string
  /** Only these tools, comma-separated. */
  only: string
  /** `tools/list` is answered with an error. */
  listFails: boolean
  /** `tools/list` is answered with this instead of an array of tools, as JSON. */
  listIs: string
  /** The capability `tools` is not declared. */
  noTools: boolean
  /** Milliseconds a list is good for (2026-07-28). */
  ttl: number
  /** Resources, templates and prompts are declared and there. */
  more: boolean
  /** Resources and prompts are declared and not there: "Method not found". */
  emptyPromises: boolean
  /** What the server says a model should know. */
  instructions: string

  /** Ends at once with code 3, after a line on standard error. */
  crashAtStart: boolean
  /** Ends with code 3 when a tool is called. */
  crashOnCall: boolean
  /** Ends with code 3 on the call after this many. */
  crashAfter: number
  /** The first request is never answered. */
  hangAtStart: boolean
  /** Calls are never answered. */
  hangOnCall: boolean
  /** Lists are never answered. */
  hangOnList: boolean
  /** Milliseconds before every answer. */
  slow: number
  /** After this many calls the definition of `echo` becomes another, and the client is told. */
  rugPull: number
  /** A list_changed notice right after the handshake. */
  changesAtStart: boolean
}

const DEFAULTS: Faults = {
  era: "dual",
  version: "2025-11-25",
  refusal: "version",
  silent: false,
  unknownCode: -32601,
  pages: 1,
  loop: false,
  emptyCursor: false,
  endless: false,
  fillers: 0,
  groups: "",
  only: "",
  listFails: false,
  listIs: "",
  noTools: false,
  ttl: 0,
  more: false,
  emptyPromises: false,
  instructions: "",
  crashAtStart: false,
  crashOnCall: false,
  crashAfter: -1,
  hangAtStart: false,
  hangOnCall: false,
  hangOnList: false,
  slow: 0,
  rugPull: -1,
  changesAtStart: false,
}

/** All faults, with those that are asked for. */
export function faultsOf(some: Partial<Faults>): Faults {
  return { ...DEFAULTS, ...some }
}

/** Reads `--flag` and `--flag=value`; flags that are not in the defaults are refused. */
export function parseFlags<TFlags extends object>(
  argv: readonly string[],
  defaults: TFlags,
): TFlags {
  const flags = { ...defaults } as Record<string, unknown>
  for (const argument of argv) {
    const [, kebab = "", , value] = /^--([a-z-]+)(=([^]*))?$/.exec(argument) ?? []
    const key = kebab.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const standard = flags[key]
    if (standard === undefined) throw new Error(`Unknown flag ${argument}.`)
    if (typeof standard === "boolean") flags[key] = value !== "false"
    else if (typeof standard === "number") flags[key] = Number(value)
    else flags[key] = value ?? ""
  }
  return flags as TFlags
}

/** Faults as flags of the process over stdio. */
export function toFlags(some: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(some).map(([key, value]) => {
    const kebab = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return value === true ? `--${kebab}` : `--${kebab}=${String(value)}`
  })
}
