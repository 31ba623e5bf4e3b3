// What every view is built of.

export { Badge, TypeBadge } from "./Badge.tsx"
export type { Tone } from "./tone.ts"
export { Button } from "./Button.tsx"
export { CodeBlock } from "./CodeBlock.tsx"
export { CopyButton } from "./CopyButton.tsx"
export { cx } from "./cx.ts"
export { Empty } from "./Empty.tsx"
export { ErrorBox } from "./ErrorBox.tsx"
export { formatCount, formatDuration } from "./format.ts"
export { Icon } from "./Icon.tsx"
export { Spinner } from "./Spinner.tsx"
export { Tabs } from "./Tabs.tsx"
