import type { ReactNode } from "react"

/** The outline of what is being loaded; `label` says what that is to screen readers. */
export function Skeleton({
  label,
  lines = 4,
}: {
  readonly label: string
  readonly lines?: number | undefined
}): ReactNode {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} className="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  )
}
