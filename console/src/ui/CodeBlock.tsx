import { useMemo } from "react"
import type { ReactNode } from "react"
import { CopyButton } from "./CopyButton.tsx"
import { highlight } from "./highlight.ts"

/** Code with its colours (`json`, `ts`, `sh`) and a button that copies it. */
export function CodeBlock({
  code,
  language,
  label,
}: {
  readonly code: string
  readonly language?: string | undefined
  /** What is shown above it instead of the language. */
  readonly label?: string | undefined
}): ReactNode {
  const tokens = useMemo(() => highlight(code, language), [code, language])
  const shown = label ?? language ?? "code"
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{shown}</span>
        <CopyButton text={code} />
      </div>
      {/* What scrolls can be reached by keyboard. */}
      <pre className="code-text" tabIndex={0} role="region" aria-label={`Code: ${shown}`}>
        <code>
          {tokens.map(({ kind, text }, at) =>
            kind === "plain" ? (
              text
            ) : (
              <span key={at} className={`token-${kind}`}>
                {text}
              </span>
            ),
          )}
        </code>
      </pre>
    </div>
  )
}
