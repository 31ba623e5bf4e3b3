import type { ReactNode } from "react"

/** A choice among some values, each with its text. */
export function Select<TValue extends string>({
  id,
  label,
  value,
  options,
  onChange,
}: {
  readonly id?: string | undefined
  /** Its name, where no label element has its id. */
  readonly label?: string | undefined
  readonly value: TValue
  readonly options: readonly (readonly [value: TValue, text: string])[]
  readonly onChange: (value: TValue) => void
}): ReactNode {
  return (
    <select
      id={id}
      className="input"
      aria-label={label}
      value={value}
      onChange={({ target }) => {
        const chosen = options.find(([one]) => one === target.value)
        if (chosen !== undefined) onChange(chosen[0])
      }}
    >
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  )
}
