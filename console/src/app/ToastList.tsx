import { useSyncExternalStore } from "react"
import type { ReactNode } from "react"
import { IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { toasts } from "./context.tsx"

/** Messages that go away by themselves. */
export function ToastList(): ReactNode {
  const displayed = useSyncExternalStore(toasts.subscribe, toasts.get)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {displayed.map(({ id, text, tone }) => (
        <div key={id} className={`toast toast-${tone}`}>
          <span>{text}</span>
          <IconButton label="Hide this message" size="small" onClick={() => toasts.hide(id)}>
            <Icon name="close" />
          </IconButton>
        </div>
      ))}
    </div>
  )
}
