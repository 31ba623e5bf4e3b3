/** A line of a chart's grid. */
export interface Tick {
  readonly value: number
  /** From the bottom, 0 to 1. */
  readonly at: number
  readonly label: string
}

/** The values that a chart reaches from and to. */
export interface Scale {
  readonly low: number
  readonly high: number
  readonly ticks: readonly Tick[]
}

/** The shapes of a chart: lines, and dots for values that stand alone. */
export interface ChartShape {
  /** Each `x,y x,y …`, as a polyline has it. */
  readonly lines: readonly string[]
  readonly dots: readonly { readonly x: number; readonly y: number }[]
}

/** How many steps the grid has, about. */
const STEPS = 4

/** A scale with round numbers that all the values are within. */
export function scaleOf(values: readonly (number | undefined)[]): Scale {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (value === undefined) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (low > high) return withTicks(0, 1, 0.5)
  if (low === high) {
    const room = Math.abs(low) / 10 || 1
    low -= room
    high += room
  }
  const step = roundStep(high / STEPS - low / STEPS)
  const from = Math.floor(low / step) * step
  const to = Math.ceil(high / step) * step
  // Numbers near the largest there are leave no room to round.
  return Number.isFinite(from) && Number.isFinite(to) && from < to && Number.isFinite(to - from)
    ? withTicks(from, to, step)
    : { low, high, ticks: [tick(low, 0), tick(high, 1)] }
}

/** Where a value is on a scale: 0 at its bottom, 1 at its top. */
export function positionOn({ low, high }: Pick<Scale, "low" | "high">, value: number): number {
  const position = (value / 2 - low / 2) / (high / 2 - low / 2)
  return Number.isFinite(position) ? Math.min(1, Math.max(0, position)) : 0.5
}

/** The values as lines in a box; where one is missing the line is broken. */
export function drawSeries(
  values: readonly (number | undefined)[],
  scale: Pick<Scale, "low" | "high">,
  { width, height }: { readonly width: number; readonly height: number },
): ChartShape {
  const lines: string[] = []
  const dots: { x: number; y: number }[] = []
  let run: { x: number; y: number }[] = []
  const finish = (): void => {
    if (run.length === 1) dots.push(...run)
    else if (run.length > 1) lines.push(run.map(({ x, y }) => `${x},${y}`).join(" "))
    run = []
  }
  for (const [index, value] of values.entries()) {
    if (value === undefined) finish()
    else {
      const x = values.length === 1 ? width / 2 : (index / (values.length - 1)) * width
      run.push({ x: short(x), y: short((1 - positionOn(scale, value)) * height) })
    }
  }
  finish()
  return { lines, dots }
}

/** A number as people read it: few digits, and short when it is far from 1. */
export function formatNumber(value: number): string {
  if (value === 0) return "0"
  const size = Math.abs(value)
  if (size >= 1e9 || size < 1e-4) return value.toExponential(2).replace("e+", "e")
  return String(Number(value.toPrecision(size >= 1e5 ? 9 : 6)))
}

function withTicks(low: number, high: number, step: number): Scale {
  const count = Math.round((high - low) / step)
  const ticks = Array.from({ length: count + 1 }, (_, index) => {
    // Not added up: 0.1 + 0.2 is not 0.3. The product is off by less than its digits show.
    const value = Number((low + index * step).toPrecision(12))
    return tick(value, index / count)
  })
  return { low, high, ticks }
}

function tick(value: number, at: number): Tick {
  return { value, at, label: formatNumber(value) }
}

/** 1, 2 or 5 times a power of ten, not less than what is given. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= step) ?? 10
  const rounded = factor * power
  return rounded > 0 ? rounded : step
}

function short(value: number): number {
  return Math.round(value * 100) / 100
}
