import type { ReactNode } from "react"
import type { OperationType } from "../api/model.ts"
import { Icon } from "./Icon.tsx"
import { cx } from "./cx.ts"
import type { Tone } from "./tone.ts"

/** A short label. */
export function Badge({
  tone = "neutral",
  title,
  className,
  children,
}: {
  readonly tone?: Tone | undefined
  readonly title?: string | undefined
  readonly className?: string | undefined
  readonly children: ReactNode
}): ReactNode {
  return (
    <span className={cx("badge", `badge-${tone}`, className)} title={title}>
      {children}
    </span>
  )
}

/** The type of an operation, in its colour. */
export function TypeBadge({ type }: { readonly type: OperationType }): ReactNode {
  return (
    <span className={cx("badge", `badge-${type}`)}>
      <Icon name={type} />
      {type}
    </span>
  )
}
