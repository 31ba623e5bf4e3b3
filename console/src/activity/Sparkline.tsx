import type { ReactNode } from "react"
import { drawSeries } from "../watch/scale.ts"

const BOX = { width: 200, height: 40 }

/** A small line chart without axes, with a description in words. */
export function Sparkline({
  values,
  words,
}: {
  readonly values: readonly number[]
  readonly words: string
}): ReactNode {
  const high = values.reduce((most, value) => Math.max(most, value), 1)
  const { lines, dots } = drawSeries(values, { low: 0, high }, BOX)
  return (
    <svg
      role="img"
      aria-label={words}
      className="sparkline"
      viewBox={`0 -2 ${BOX.width} ${BOX.height + 4}`}
      preserveAspectRatio="none"
    >
      {lines.map((points) => (
        <g key="line">
          <polygon
            className="sparkline-area"
            points={`0,${BOX.height} ${points} ${BOX.width},${BOX.height}`}
          />
          <polyline className="chart-line" points={points} />
        </g>
      ))}
      {dots.map(({ x, y }) => (
        <path key={x} className="chart-dot" d={`M${x} ${y}h0`} />
      ))}
    </svg>
  )
}
