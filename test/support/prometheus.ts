import { expect } from "vitest"

/** Parses the text as strictly as Prometheus does; throws at the first line that it would refuse. */
export function parseMetrics(text: string): Map<string, number> {
  expect(text.endsWith("\n")).toBe(true)
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  for (const line of text.slice(0, -1).split("\n")) {
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line)
    if (type?.[1] !== undefined && types.has(type[1])) throw new Error(`Twice: ${line}`)
    if (type !== null) types.set(type[1] as string, type[2] as string)
    if (type !== null || /^# HELP [a-z_]+ [^\\\n]+$/.test(line)) continue
    const label = String.raw`[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"`
    const form = new RegExp(`^([a-z_]+)(\\{${label}(?:,${label})*\\})? (-?[\\d.e+-]+)$`)
    const [, name = "", labels = "", value = ""] = form.exec(line) ?? []
    expect(name, line).not.toBe("")
    const family = name.replace(/_(?:bucket|sum|count)$/, "")
    expect(types.has(name) || types.get(family) === "histogram", line).toBe(true)
    expect(samples.has(name + labels), line).toBe(false)
    samples.set(name + labels, Number(value))
  }
  return samples
}
