import { useLayoutEffect, useRef } from "react"
import type { ReactNode } from "react"
import { cx } from "../ui/index.ts"
import { sanitize } from "./markdown/sanitize.ts"
import { isPlain, MAX_INLINE, toHtml, toInlineHtml } from "./markdown/to-html.ts"
import "./markdown.css"

interface MarkdownProps {
  readonly text: string
  readonly className?: string | undefined
}

/** A text from a source: Markdown, of which nothing can run or load anything. */
export function Markdown({ text, className }: MarkdownProps): ReactNode {
  const names = cx("markdown", className)
  if (isPlain(text)) {
    return (
      <div className={names}>
        <p>{text}</p>
      </div>
    )
  }
  return <Rich html={toHtml(text)} className={names} element="div" />
}

/** The same within a line. */
export function InlineMarkdown({ text, className }: MarkdownProps): ReactNode {
  const names = cx("markdown", className)
  if (isPlain(text) && text.length <= MAX_INLINE) return <span className={names}>{text}</span>
  return <Rich html={toInlineHtml(text)} className={names} element="span" />
}

function Rich({
  html,
  className,
  element: Element,
}: {
  readonly html: string
  readonly className: string
  readonly element: "div" | "span"
}): ReactNode {
  const ref = useRef<HTMLDivElement & HTMLSpanElement>(null)
  useLayoutEffect(() => {
    ref.current?.replaceChildren(sanitize(html))
  }, [html])
  return <Element ref={ref} className={className} />
}
