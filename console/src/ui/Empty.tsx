import type { ReactNode } from "react"

/** A placeholder for an empty view, with the reason or advice. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ReactNode
}): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <div>{children}</div>}
    </div>
  )
}
