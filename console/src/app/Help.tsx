import type { ReactNode } from "react"
import { Dialog } from "../ui/Dialog.tsx"
import type { OpenProps } from "../ui/Dialog.tsx"

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["Ctrl", "K"], "Search everything, from anywhere"],
  [["/"], "Search the list of operations"],
  [["↓", "↑"], "Move through the list"],
  [["←", "→"], "Close and open a folder"],
  [["Enter"], "Open the operation"],
  [["Ctrl", "Enter"], "Run, from anywhere in the page"],
  [["Esc"], "Clear the search, close a dialog"],
  [["?"], "Show these keys"],
]

/** The keys of the page. */
export function Help({ open, onClose }: OpenProps): ReactNode {
  return (
    <Dialog title="Keys" open={open} onClose={onClose}>
      <dl className="key-list">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
