import { useId } from "react"
import type { ReactNode } from "react"
import { formatCount } from "./format.ts"

/** A field that searches in what is below it, or filters it. */
export function SearchField({
  label,
  placeholder,
  text,
  onText,
}: {
  readonly label: string
  readonly placeholder: string
  readonly text: string
  readonly onText: (text: string) => void
}): ReactNode {
  const id = useId()
  return (
    <>
      <label htmlFor={id} className="visually-hidden">
        {label}
      </label>
      <input
        id={id}
        type="search"
        className="input"
        size={placeholder.length + 2}
        placeholder={placeholder}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    </>
  )
}

/** What a search found, announced when it changes; nothing before there is a search. */
export function SearchMatches({
  count,
  isCut = false,
}: {
  readonly count: number | undefined
  /** Not everything was looked at. */
  readonly isCut?: boolean | undefined
}): ReactNode {
  return (
    <span className="muted" role="status">
      {count !== undefined && formatCount(count, "match", "matches")}
      {isCut && " in the first part"}
    </span>
  )
}
