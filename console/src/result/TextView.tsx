import { useState } from "react"
import type { ReactNode } from "react"
import { Markdown } from "../read/Markdown.tsx"
import { MAX_MARKDOWN } from "../read/markdown/to-html.ts"
import { Button } from "../ui/Button.tsx"
import { looksLikeMarkdown } from "./looks-like-markdown.ts"
import "./result.css"

/** Longer texts are cut; they can be copied whole. */
const MAX_SHOWN = 100_000

/** A text as it is, or, if it seems to be Markdown, formatted: then nothing in it can run or load anything. */
export function TextView({ text }: { readonly text: string }): ReactNode {
  const isMarkdown = text.length <= MAX_MARKDOWN && looksLikeMarkdown(text)
  const [isPlain, setPlain] = useState(false)
  if (!isMarkdown) return <Plain text={text} />
  return (
    <>
      <Button
        size="small"
        variant="quiet"
        aria-pressed={isPlain}
        onClick={() => setPlain(!isPlain)}
      >
        Plain text
      </Button>
      {isPlain ? <Plain text={text} /> : <Markdown text={text} />}
    </>
  )
}

function Plain({ text }: { readonly text: string }): ReactNode {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  return <pre className="result-text">{shown}</pre>
}
