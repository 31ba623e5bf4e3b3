import { useMemo, useState } from "react"
import type { ReactNode } from "react"
import { isObject } from "../../../src/internal/guards.ts"
import { cx } from "../ui/cx.ts"
import { printJson } from "../ui/json-text.ts"
import { countOf, entriesOf, isOpenAtFirst, previewOf } from "./entries.ts"
import type { JsonSearch } from "./search-json.ts"
import "./result.css"

/** How many neighbours are shown at once. */
const STEP = 100
/** Texts are cut at this length until they are expanded. */
const MAX_TEXT = 400

/** A JSON value as a tree that opens part by part: closed parts are not rendered. */
export function JsonTree({
  value,
  label = "JSON",
  search,
}: {
  readonly value: unknown
  readonly label?: string | undefined
  /** Only what matches is shown, and what it is in. */
  readonly search?: JsonSearch | undefined
}): ReactNode {
  return (
    <ul className="json-tree" aria-label={label}>
      <Node name={undefined} value={value} depth={0} siblings={1} search={search} />
    </ul>
  )
}

interface NodeProps<TValue> {
  readonly name: string | undefined
  readonly value: TValue
  readonly depth: number
  /** How many entries the value around it has. */
  readonly siblings: number
  readonly search: JsonSearch | undefined
}

function Node(props: NodeProps<unknown>): ReactNode {
  const { name, value, search } = props
  if (isObject(value)) return <Branch {...props} value={value} />
  return (
    <li className={cx("json-leaf", search !== undefined && "json-match")}>
      <Name name={name} />
      <Leaf value={value} />
    </li>
  )
}

function Branch({ name, value, depth, siblings, search }: NodeProps<object>): ReactNode {
  // Of what matches only by its name, everything is shown, closed.
  const within = search?.holds(value) === true ? search : undefined
  const [isOpen, setOpen] = useState(() =>
    search === undefined ? isOpenAtFirst(value, depth, siblings) : within !== undefined,
  )
  const [limit, setLimit] = useState(STEP)
  const shown = useMemo(
    () =>
      within &&
      entriesOf(value, countOf(value)).filter(
        (entry) => within.isMatch(entry, value) || within.holds(entry.value),
      ),
    [value, within],
  )
  const count = shown?.length ?? countOf(value)
  if (count === 0) {
    return (
      <li className="json-leaf">
        <Name name={name} />
        <span className="json-preview">{previewOf(value)}</span>
      </li>
    )
  }
  return (
    <li>
      <button
        type="button"
        className="json-toggle"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Name name={name} />
        <span className="json-preview">{previewOf(value)}</span>
      </button>
      {isOpen && (
        <ul>
          {(shown?.slice(0, limit) ?? entriesOf(value, limit)).map((entry) => (
            <Node
              key={entry.key}
              name={entry.key}
              value={entry.value}
              depth={depth + 1}
              siblings={count}
              search={within}
            />
          ))}
          {count > limit && (
            <li>
              <button type="button" className="json-more" onClick={() => setLimit(limit + STEP)}>
                Show {Math.min(STEP, count - limit)} more of {count.toLocaleString("en")}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  )
}

function Name({ name }: { readonly name: string | undefined }): ReactNode {
  return name === undefined ? null : <span className="json-name">{name}: </span>
}

function Leaf({ value }: { readonly value: unknown }): ReactNode {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== "string") {
    const isNumber = typeof value === "number" || typeof value === "bigint"
    const kind = isNumber ? "token-number" : "token-word"
    return <span className={kind}>{printJson(value) ?? "nothing"}</span>
  }
  const isCut = value.length > MAX_TEXT && !isWhole
  return (
    <>
      <span className="token-string json-text">
        {quoted(isCut ? value.slice(0, MAX_TEXT) : value)}
      </span>
      {isCut && (
        <button type="button" className="json-more" onClick={() => setWhole(true)}>
          Show all {value.length.toLocaleString("en")} characters
        </button>
      )}
    </>
  )
}

/** A text in quotes; one of several lines on lines of its own, as it is. */
function quoted(text: string): string {
  return text.includes("\n") ? `"\n${text}\n"` : JSON.stringify(text)
}
