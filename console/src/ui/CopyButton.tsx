import { useEffect, useRef, useState } from "react"
import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Icon } from "./Icon.tsx"
import type { IconName } from "./Icon.tsx"
import { copyText } from "./copy-text.ts"

const FEEDBACK_MS = 1600

/** Copies a text, and confirms it. A text that is costly to create can be a function. */
export function CopyButton({
  text,
  label = "Copy",
  icon = "copy",
}: {
  readonly text: string | (() => string)
  readonly label?: string | undefined
  readonly icon?: IconName | undefined
}): ReactNode {
  const [state, setState] = useState<"idle" | "done" | "failed">("idle")
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async (): Promise<void> => {
    const done = await copyText(typeof text === "function" ? text() : text)
    setState(done ? "done" : "failed")
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setState("idle"), FEEDBACK_MS)
  }
  return (
    <Button variant="quiet" size="small" className="copy-button" onClick={() => void copy()}>
      <Icon name={state === "done" ? "check" : icon} />
      <span aria-live="polite">
        {state === "idle" ? label : state === "done" ? "Copied" : "Not copied"}
      </span>
    </Button>
  )
}
