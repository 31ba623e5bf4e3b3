import { useMemo, useState } from "react"
import type { ReactNode } from "react"
import { connectionsOf } from "../read/snippets/snippets.ts"
import { CodeBlock } from "../ui/CodeBlock.tsx"
import { Tabs } from "../ui/Tabs.tsx"
import { useHub, useHubInfo } from "./context.tsx"
import { useIsSignedIn } from "./use-session.ts"

/** How to use the hub from other programs, ready to paste. */
export function Connect(): ReactNode {
  const { baseUrl } = useHub()
  const { mcp, websocket } = useHubInfo()
  const needsToken = useIsSignedIn()
  const tabs = useMemo(
    () =>
      connectionsOf({ baseUrl, needsToken, mcp, websocket }).map(
        ({ id, label, language, code, note }) => ({
          id,
          label,
          panel: (
            <div className="stack">
              <CodeBlock code={code} language={language} label={label} />
              {note !== "" && <p className="muted">{note}</p>}
            </div>
          ),
        }),
      ),
    [baseUrl, needsToken, mcp, websocket],
  )
  const [chosen, setChosen] = useState<string>()
  const value = tabs.some(({ id }) => id === chosen) ? chosen : tabs[0]?.id
  return <Tabs label="Use it from" tabs={tabs} value={value ?? ""} onChange={setChosen} />
}
