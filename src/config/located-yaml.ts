import { type Event, EVENT_ID, getScalarValue, parseEvents, YAMLException } from "js-yaml"
import { isCallError } from "../core/errors.ts"
import {
  locateIn,
  type LocatedData,
  type LocatedNode,
  placeAt,
  ParseError,
} from "../internal/located.ts"
import { readYaml } from "../sources/openapi/yaml.ts"

const MAX_DEPTH = 200

/** Parses one YAML document and records the place of each part. Throws a `ParseError`. */
export function readLocatedYaml(text: string): LocatedData {
  const events = parse(text)
  const root: LocatedNode = { at: 0, children: new Map() }
  new Walker(text, events).document(root)
  return { value: valueOf(text), where: locateIn(text, root) }
}

function parse(text: string): readonly Event[] {
  try {
    return parseEvents(text, { maxDepth: MAX_DEPTH })
  } catch (thrown) {
    if (!(thrown instanceof YAMLException)) throw thrown
    const { mark } = thrown
    const place = mark === undefined ? undefined : placeAt(mark.buffer, mark.position)
    throw new ParseError(`is not YAML: ${unquoted(thrown.reason)}`, place)
  }
}

/** The parser's message without quoted text. */
function unquoted(reason: string): string {
  return reason.replace(/"[^"]*"?|'[^']*'?|<[^>]*>|!\S*/g, "…").slice(0, 200)
}

function valueOf(text: string): unknown {
  try {
    return readYaml(text, "The file").value
  } catch (thrown) {
    if (!isCallError(thrown)) throw thrown
    const place = thrown.details as { line: number; column: number } | undefined
    // Errors with a place quote the text, which may contain secrets.
    if (place !== undefined) {
      throw new ParseError("has an unsupported tag or alias here", {
        line: place.line,
        column: place.column,
      })
    }
    throw new ParseError(thrown.message.replace(/^The file /, "").replace(/\.$/, ""), undefined)
  }
}

/** Walks the events and records where each key and each item begins. */
class Walker {
  readonly #text: string
  readonly #events: readonly Event[]
  #next = 0

  constructor(text: string, events: readonly Event[]) {
    this.#text = text
    this.#events = events
  }

  document(root: LocatedNode): void {
    const [first] = this.#events
    if (first?.type !== EVENT_ID.DOCUMENT) return
    this.#next = 1
    this.#node(root)
  }

  #node(node: LocatedNode): void {
    const event = this.#take()
    if (event?.type === EVENT_ID.MAPPING) this.#mapping(node)
    else if (event?.type === EVENT_ID.SEQUENCE) this.#sequence(node)
  }

  #mapping(node: LocatedNode): void {
    for (;;) {
      const event = this.#events[this.#next]
      if (event === undefined || event.type === EVENT_ID.POP) return void this.#take()
      const child: LocatedNode = { at: startOf(event) ?? node.at, children: new Map() }
      if (event.type === EVENT_ID.SCALAR) {
        this.#next++
        this.#keep(node, getScalarValue(this.#text, event), child)
      } else {
        // A key that is not a scalar: no configuration has one, so skip it.
        this.#node({ at: node.at, children: new Map() })
      }
      this.#node(child)
    }
  }

  #keep(node: LocatedNode, key: string, child: LocatedNode): void {
    if (node.children.has(key) && key !== "<<") {
      throw new ParseError(
        "has a name twice in one object: the second one is here",
        placeAt(this.#text, child.at),
      )
    }
    node.children.set(key, child)
  }

  #sequence(node: LocatedNode): void {
    for (let index = 0; ; index++) {
      const event = this.#events[this.#next]
      if (event === undefined || event.type === EVENT_ID.POP) return void this.#take()
      const child: LocatedNode = { at: startOf(event) ?? node.at, children: new Map() }
      node.children.set(String(index), child)
      this.#node(child)
    }
  }

  #take(): Event | undefined {
    return this.#events[this.#next++]
  }
}

function startOf(event: Event): number | undefined {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return event.valueStart
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start
    case EVENT_ID.ALIAS:
      return event.anchorStart
    default:
      return undefined
  }
}
