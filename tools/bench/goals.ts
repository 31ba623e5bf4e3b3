import type { Latency } from "./bus.ts"
import { latencyGoals } from "./bus-report.ts"
import type { Made } from "./laziness.ts"
import type { Measurement } from "./measure.ts"
import type { Flatness } from "./memory.ts"
import type { DocumentName } from "./documents.ts"
import type { OpenAPIResults } from "./openapi.ts"
import { coldGoals } from "./openapi-cold.ts"
import { BARE, GATEWAY, ORPC, REST, TRPC } from "./http-targets.ts"
import { OURS_LEFT } from "./http-disconnect.ts"
import type { Disconnects } from "./http-disconnect.ts"
import { SOCKET_IDLE, SSE_IDLE } from "./http-idle.ts"
import type { Idle } from "./http-idle.ts"
import { OUR_CLIENT, PEER_CLIENTS } from "./http-client.ts"
import { BY_HAND, FEW_TOOLS, MANY_TOOLS, OUR_CALL, SDK_CALL } from "./mcp.ts"
import { ASKED, OVER_HTTP, SDK_SESSION, SESSION_CALL, STATELESS } from "./mcp-http.ts"
import type { FirstRequests } from "./mcp-http.ts"
import { STDIO, type StdioCost } from "./mcp-stdio.ts"
import { IN_FLIGHT, LOOPBACK } from "./protocol.ts"
import { REJECTED } from "./extras.ts"
import { nameOf, ROTATION } from "./scaling.ts"

/** The results for calls within a registry. */
export interface CoreResults {
  readonly small: readonly Measurement[]
  readonly large: readonly Measurement[]
  readonly extras: readonly Measurement[]
  readonly scaling: readonly Measurement[]
  /** Calls of many operations in turn. */
  readonly rotation: readonly Measurement[]
  /** The objects that 10,000 calls of an asynchronous handler created. */
  readonly made: Made
}

/** The results for WebSockets between two processes. */
export interface BetweenResults {
  readonly betweenCalls: readonly Measurement[]
  readonly betweenLatencies: readonly Latency[]
}

/** The results for the call protocol. */
export interface ProtocolResults extends BetweenResults {
  /** In process, one after the other. */
  readonly protocol: readonly Measurement[]
  /** Few and many calls at the same time. */
  readonly inFlight: readonly Measurement[]
  readonly socketCalls: readonly Measurement[]
  readonly socketStreams: readonly Measurement[]
  readonly flatness: readonly Flatness[]
}

/** The results for MCP tools. */
export interface MCPResults {
  readonly served: readonly Measurement[]
  readonly imported: readonly Measurement[]
  readonly overHTTP: readonly Measurement[]
  readonly stdio: readonly StdioCost[]
  readonly first: readonly FirstRequests[]
}

/** The results for HTTP. */
export interface HTTPResults {
  readonly requests: readonly Measurement[]
  readonly events: readonly Measurement[]
  readonly idle: readonly Idle[]
  readonly disconnects: readonly Disconnects[]
  /** Calls of typed clients: CPU of both ends. */
  readonly singleCalls: readonly Measurement[]
  readonly batchedCalls: readonly Measurement[]
}

/** One goal, and whether this run met it. */
export interface Goal {
  readonly goal: string
  readonly measured: string
  readonly isMet: boolean
}

const MAX_REJECTED = 2
const MAX_ROTATION = 1.6
// The same time, within the noise of a ratio of two measurements.
const MAX_GROWTH = 1.15

const MAX_PROTOCOL_RATIO = 3
const MAX_IN_FLIGHT_GROWTH = 2
const MAX_STREAM_BYTES = 1_000_000

const MAX_SERVED_RATIO = 1.5
const MAX_REMOTE_RATIO = 2.6
const MAX_STDIO_MS = 150
const MAX_STDIO_CALL = 90
const MAX_FIRST_RATIO = 3
const MIN_SDK_RATIO = 5
const MAX_TOOLS_GROWTH = 1.2
const MAX_IMPORTED_RATIO = 1.15

const MAX_REQUEST_CPU: Readonly<Record<string, number>> = { [REST]: 1.5, [GATEWAY]: 1.5 }
const MAX_IDLE_BYTES: Readonly<Record<string, number>> = { [SSE_IDLE]: 16e3, [SOCKET_IDLE]: 4e3 }

const MAX_DISCONNECT_MS = 200

const MAX_LIST_RATIO = 1.3
const MAX_HEAP_SHARE = 0.4
/** Relative to `JSON.parse`; the last two refer to many more schemas than the length of their text suggests. */
const MAX_SCHEMAS_RATIO: Readonly<Record<DocumentName, number>> = {
  GitHub: 3,
  "Microsoft Graph": 3,
  Stripe: 5,
  Kubernetes: 5,
}

const OURS = ["execute", "execute, identity and scopes"]

/** Compares calls of MCP tools with the goals of the library. */
export function mcpGoals({ served, imported, overHTTP, stdio, first }: MCPResults): Goal[] {
  const few = find(served, FEW_TOOLS).ratio.median
  const growth = find(served, MANY_TOOLS).ratio.median / few
  const ratio = find(imported, OUR_CALL).ratio.median
  const remote = find(overHTTP, OVER_HTTP).ratio.median
  const times = find(overHTTP, SDK_SESSION).ratio.median / remote
  const cold = first.find(({ name }) => name === OVER_HTTP)?.ratio.median ?? Number.NaN
  const { startMs = Number.NaN, callMicroseconds = Number.NaN } =
    stdio.find(({ name }) => name === STDIO) ?? {}
  return [
    ...[OVER_HTTP, STATELESS, SESSION_CALL, ASKED].map((name) => {
      const { median } = find(overHTTP, name).ratio
      return {
        goal: `${name}: at most ${MAX_REMOTE_RATIO} times by hand`,
        measured: median.toFixed(2),
        isMet: median <= MAX_REMOTE_RATIO,
      }
    }),
    {
      goal: `${STDIO}, until it has answered initialize: at most ${MAX_STDIO_MS} ms of CPU over Node`,
      measured: `${startMs.toFixed(0)} ms`,
      isMet: startMs <= MAX_STDIO_MS,
    },
    {
      goal: `${STDIO}, a call: at most ${MAX_STDIO_CALL} µs of CPU`,
      measured: `${callMicroseconds.toFixed(0)} µs`,
      isMet: callMicroseconds <= MAX_STDIO_CALL,
    },
    {
      goal: `${OVER_HTTP}, first requests of a process: at most ${MAX_FIRST_RATIO} times by hand`,
      measured: cold.toFixed(2),
      isMet: cold <= MAX_FIRST_RATIO,
    },
    {
      goal: `${OVER_HTTP}: ahead of one session of the SDK by ${MIN_SDK_RATIO} times`,
      measured: times.toFixed(2),
      isMet: times >= MIN_SDK_RATIO,
    },
    {
      goal: `${FEW_TOOLS}: at most ${MAX_SERVED_RATIO} times ${BY_HAND}`,
      measured: few.toFixed(2),
      isMet: few <= MAX_SERVED_RATIO,
    },
    {
      goal: `${MANY_TOOLS}: at most ${MAX_TOOLS_GROWTH} times ${FEW_TOOLS}`,
      measured: growth.toFixed(2),
      isMet: growth <= MAX_TOOLS_GROWTH,
    },
    {
      goal: `${OUR_CALL}: at most ${MAX_IMPORTED_RATIO} times ${SDK_CALL}`,
      measured: ratio.toFixed(2),
      isMet: ratio <= MAX_IMPORTED_RATIO,
    },
  ]
}

function clientGoal(what: string, calls: readonly Measurement[]): Goal {
  const { median } = find(calls, OUR_CLIENT).ratio
  const best = Math.min(...PEER_CLIENTS.map((name) => find(calls, name).ratio.median))
  return {
    goal: `${what}, client and server: less CPU than tRPC and oRPC`,
    measured: `${median.toFixed(2)} against ${best.toFixed(2)}`,
    isMet: median < best,
  }
}

/** Compares HTTP with the goals of the library. */
export function httpGoals(results: HTTPResults): Goal[] {
  const { requests, idle, disconnects, singleCalls, batchedCalls } = results
  // CPU time of the server, because rates depend on the other load of a shared machine.
  const best = Math.min(...[TRPC, ORPC].map((name) => find(requests, name).ratio.median))
  return [
    ...Object.entries(MAX_REQUEST_CPU).flatMap(([name, max]) => {
      const { median } = find(requests, name).ratio
      return [
        {
          goal: `${name}: at most ${max} times the CPU of ${BARE}`,
          measured: median.toFixed(2),
          isMet: median <= max,
        },
        {
          goal: `${name}: ahead of tRPC and oRPC`,
          measured: `${median.toFixed(2)} against ${best.toFixed(2)}`,
          isMet: median < best,
        },
      ]
    }),
    ...idle.flatMap(({ name, heapBytes, residentBytes }) => {
      const max = MAX_IDLE_BYTES[name]
      if (max === undefined) return []
      // Resident memory includes the heap, and depends on how the engine grows it.
      const bytes = Math.max(heapBytes, residentBytes)
      return {
        goal: `${name}, idle: under ${max / 1000} KB`,
        measured: `${(bytes / 1000).toFixed(1)} KB`,
        isMet: bytes < max,
      }
    }),
    ...disconnects
      .filter(({ name }) => OURS_LEFT.includes(name))
      .map(({ name, p99 }) => ({
        goal: `${name}: its handler hears of a client that left within ${MAX_DISCONNECT_MS} ms (p99)`,
        measured: `${p99.toFixed(1)} ms`,
        isMet: p99 <= MAX_DISCONNECT_MS,
      })),
    clientGoal("a call over HTTP", singleCalls),
    clientGoal("a call of a batch over HTTP", batchedCalls),
  ]
}

/** Compares calls within the registry with the goals of the library. */
export function coreGoals(results: CoreResults): Goal[] {
  const { small, large, extras, scaling, rotation, made } = results
  const goals: Goal[] = []
  for (const [size, rows] of [
    ["small", small],
    ["large", large],
  ] as const) {
    // Without scopes: no peer checks who is calling.
    const ours = find(rows, "execute").ratio.median
    const peers = rows.filter(({ name }) => name !== "floor" && !OURS.includes(name))
    const best = Math.min(...peers.map(({ ratio }) => ratio.median))
    goals.push({
      goal: `execute, ${size}: ahead of every peer`,
      measured: `${ours.toFixed(2)} against ${best.toFixed(2)}`,
      isMet: ours < best,
    })
  }
  for (const size of [1000, 100_000]) {
    const { ratio } = find(scaling, nameOf(size))
    goals.push({
      goal: `${nameOf(size)} cost what 10 do (within ${Math.round((MAX_GROWTH - 1) * 100)} %)`,
      measured: ratio.median.toFixed(2),
      isMet: ratio.median <= MAX_GROWTH,
    })
  }
  const rejected = find(extras, REJECTED)
  goals.push({
    goal: `${REJECTED}: at most ${MAX_REJECTED} times ${rejected.against}`,
    measured: rejected.ratio.median.toFixed(2),
    isMet: rejected.ratio.median <= MAX_REJECTED,
  })
  const turns = find(rotation, ROTATION)
  goals.push({
    goal: `${ROTATION}: at most ${MAX_ROTATION} times by hand`,
    measured: turns.ratio.median.toFixed(2),
    isMet: turns.ratio.median <= MAX_ROTATION,
  })
  goals.push(madeGoal(made))
  return goals
}

/** The goal for the objects that calls create. */
export function madeGoal({ abortControllers, proxies, requestIds, timers }: Made): Goal {
  return {
    goal: "10,000 calls make no controller, proxy or id, and share their timers",
    measured: `${abortControllers}, ${proxies}, ${requestIds}; ${timers} timers`,
    isMet: abortControllers + proxies + requestIds === 0 && timers < 10,
  }
}

/** Compares the call protocol with the goals of the library. */
export function protocolGoals(results: ProtocolResults): Goal[] {
  const call = find(results.protocol, LOOPBACK).ratio.median
  const growth = find(results.inFlight, `10,000 ${IN_FLIGHT}`).ratio.median
  return [
    {
      goal: `${LOOPBACK}: at most ${MAX_PROTOCOL_RATIO} times execute`,
      measured: call.toFixed(2),
      isMet: call <= MAX_PROTOCOL_RATIO,
    },
    {
      goal: `10,000 ${IN_FLIGHT}: at most ${MAX_IN_FLIGHT_GROWTH} times 100, per call`,
      measured: growth.toFixed(2),
      isMet: growth <= MAX_IN_FLIGHT_GROWTH,
    },
    ahead("calls over WebSocket: ahead of tRPC and oRPC", results.socketCalls),
    ahead("stream items over WebSocket: ahead of tRPC and oRPC", results.socketStreams),
    ...latencyGoals(results.betweenLatencies, { ws: 1.2 }),
    ...results.flatness.map(({ name, items, grownBytes }) => ({
      goal: `${items.toLocaleString("en")} items, ${name}: memory grows by less than 1 MB`,
      measured: `${(grownBytes / 1e6).toFixed(2)} MB`,
      isMet: grownBytes < MAX_STREAM_BYTES,
    })),
  ]
}

/** Compares the import of documents with the goals of the library. */
export function openapiGoals({ openapi, ...cold }: OpenAPIResults): Goal[] {
  const warm = openapi.flatMap(({ document, rows, heap }) => {
    const ratioOf = (wanted: string): number =>
      rows.find(({ row }) => row === wanted)?.ratio.median ?? Number.NaN
    const list = ratioOf("list")
    const schemas = ratioOf("schemas")
    const max = MAX_SCHEMAS_RATIO[document]
    return [
      {
        goal: `${document}, all operations listed: at most ${MAX_LIST_RATIO} times JSON.parse`,
        measured: list.toFixed(2),
        isMet: list <= MAX_LIST_RATIO,
      },
      {
        goal: `${document}, every schema: at most ${max} times JSON.parse`,
        measured: schemas.toFixed(2),
        isMet: schemas <= max,
      },
      {
        goal: `${document}, every schema: adds at most ${MAX_HEAP_SHARE * 100} % to the parsed document's heap`,
        measured: `${(heap.schemas * 100).toFixed(0)} %`,
        isMet: heap.schemas <= MAX_HEAP_SHARE,
      },
    ]
  })
  return [...warm, ...coldGoals(cold)]
}

/** Our row is the second, after the floor; the others are the peers. */
function ahead(goal: string, [, ours, ...peers]: readonly Measurement[]): Goal {
  const mine = ours?.perSecond ?? 0
  const best = Math.max(...peers.map(({ perSecond }) => perSecond))
  return {
    goal,
    measured: `${rate(mine)} against ${rate(best)} a second`,
    isMet: mine > best,
  }
}

function rate(perSecond: number): string {
  return Math.round(perSecond).toLocaleString("en")
}

function find(rows: readonly Measurement[], name: string): Measurement {
  const row = rows.find((measurement) => measurement.name === name)
  if (row === undefined) throw new TypeError(`There is no row "${name}".`)
  return row
}
