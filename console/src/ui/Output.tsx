import type { ReactNode } from "react"

/** What a program wrote, as it is. */
export function Output({
  label,
  text,
}: {
  readonly label: string
  readonly text: string
}): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls can be reached
    <pre className="output" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  )
}
