import type { ReactNode } from "react"
import { IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useToasts } from "./context.tsx"

/** Messages that go away by themselves. */
export function ToastList(): ReactNode {
  const { toasts, hide } = useToasts()
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, tone }) => (
        <div key={id} className={`toast toast-${tone}`}>
          <span>{text}</span>
          <IconButton label="Hide this message" size="small" onClick={() => hide(id)}>
            <Icon name="close" />
          </IconButton>
        </div>
      ))}
    </div>
  )
}
