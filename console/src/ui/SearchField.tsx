import { useId } from "react"
import type { ReactNode } from "react"

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
        placeholder={placeholder}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    </>
  )
}
