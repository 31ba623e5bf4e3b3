import { useEffect, useMemo, useState } from "react"
import type { ReactNode } from "react"
import { fromBase64 } from "../../../src/internal/base64.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatBytes } from "../ui/format.ts"
import { parseJson } from "../ui/json-text.ts"
import { JsonTree } from "./JsonTree.tsx"
import { SearchableJson } from "./SearchableJson.tsx"
import { TextView } from "./TextView.tsx"
import { toDisplayBlock } from "./blocks.ts"
import type { DisplayBlock } from "./blocks.ts"

/** The blocks of an MCP result, each displayed by its type. */
export function ContentView({ content }: { readonly content: readonly unknown[] }): ReactNode {
  const blocks = useMemo(() => content.slice(0, 100).map(toDisplayBlock), [content])
  return (
    <ol className="stack">
      {blocks.map((block, at) => (
        <li key={at} className="content-block">
          <Block block={block} number={at + 1} />
        </li>
      ))}
      {content.length > 100 && <li className="field-note">{content.length - 100} more in Raw.</li>}
    </ol>
  )
}

/** One block; `number` is its place among those of a result. */
export function Block({
  block,
  number = 1,
}: {
  readonly block: DisplayBlock
  readonly number?: number | undefined
}): ReactNode {
  switch (block.kind) {
    case "text":
      return <TextBlock text={block.text} isJson={block.isJson} />
    case "image":
      return (
        <figure>
          <img className="content-image" src={block.url} alt={`Result ${number}, ${block.type}`} />
          <figcaption className="field-note">{block.type}</figcaption>
        </figure>
      )
    case "audio":
      return (
        <figure>
          {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- a tool sends no captions */}
          <audio controls src={block.url} aria-label={`Result ${number}, ${block.type}`} />
          <figcaption className="field-note">{block.type}</figcaption>
        </figure>
      )
    case "video":
      return (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- a tool sends no captions
        <video className="content-image" controls src={block.url} aria-label={block.type} />
      )
    case "pdf":
      return <Pdf url={block.url} />
    case "page":
      // Without any permission: nothing in it can run, load, navigate or reach this page.
      return <iframe className="content-page" title="Page" sandbox="" srcDoc={block.html} />
    case "link":
      return (
        <p>
          {block.href === undefined ? (
            <strong>{block.name}</strong>
          ) : (
            <a href={block.href} target="_blank" rel="noopener noreferrer">
              {block.name}
            </a>
          )}{" "}
          <code>{block.uri}</code>
          {block.description !== undefined && <span className="muted"> {block.description}</span>}
        </p>
      )
    case "resource":
      return (
        <>
          <p className="field-note">
            Resource <code>{block.uri}</code>
            {block.bytes !== undefined && `, ${formatBytes(block.bytes)}`}
          </p>
          {block.inner !== undefined && <Block block={block.inner} number={number} />}
          {block.text !== undefined && <TextBlock text={block.text} isJson={false} />}
        </>
      )
    case "unknown":
      return <JsonTree value={block.value} label={`Result ${number}`} />
  }
}

/** A link: the browser shows PDF in a tab of its own. */
function Pdf({ url }: { readonly url: string }): ReactNode {
  const [opened, setOpened] = useState<string>()
  useEffect(() => {
    const bytes = fromBase64(url.slice(url.indexOf(",") + 1))
    if (bytes === undefined) return undefined
    const address = URL.createObjectURL(new Blob([bytes], { type: "application/pdf" }))
    setOpened(address)
    return () => URL.revokeObjectURL(address)
  }, [url])
  return (
    <p>
      <a href={opened} target="_blank" rel="noopener noreferrer">
        Open the PDF in a new tab
      </a>
    </p>
  )
}

function TextBlock({
  text,
  isJson,
}: {
  readonly text: string
  readonly isJson: boolean
}): ReactNode {
  const value = useMemo(() => (isJson ? parseJson(text) : undefined), [text, isJson])
  return (
    <div className="content-text">
      <CopyButton text={text} label="Copy text" />
      {isJson ? <SearchableJson value={value} label="Text as JSON" /> : <TextView text={text} />}
    </div>
  )
}
