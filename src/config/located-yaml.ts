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
  recordPlaces(text, events, root)
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

/** Records where each key and each item begins. */
function recordPlaces(text: string, events: readonly Event[], root: LocatedNode): void {
  let next = 0
  const visit = (node: LocatedNode): void => {
    const event = events[next++]
    if (event?.type !== EVENT_ID.MAPPING && event?.type !== EVENT_ID.SEQUENCE) return
    for (let index = 0; ; index++) {
      const first = events[next]
      if (first === undefined || first.type === EVENT_ID.POP) return void next++
      const child: LocatedNode = { at: startOf(first) ?? node.at, children: new Map() }
      if (event.type === EVENT_ID.SEQUENCE) node.children.set(String(index), child)
      else if (first.type === EVENT_ID.SCALAR) {
        next++
        keep(text, node, getScalarValue(text, first), child)
      } else {
        // A key that is not a scalar: no configuration has one, so skip it.
        visit({ at: node.at, children: new Map() })
      }
      visit(child)
    }
  }
  if (events[next++]?.type === EVENT_ID.DOCUMENT) visit(root)
}

function keep(text: string, node: LocatedNode, key: string, child: LocatedNode): void {
  if (node.children.has(key) && key !== "<<") {
    const place = placeAt(text, child.at)
    throw new ParseError("has a name twice in one object: the second one is here", place)
  }
  node.children.set(key, child)
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
