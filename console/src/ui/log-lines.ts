import type { SourceLogLine } from "../api/model.ts"

/** Lines of a log that are kept. */
const MAX_LINES = 200

/** A log with further lines; only the last ones are kept. */
export function withLines(
  before: readonly SourceLogLine[],
  lines: readonly SourceLogLine[],
): readonly SourceLogLine[] {
  return [...before, ...lines].slice(-MAX_LINES)
}

/** The text of a log. */
export function logText(lines: readonly SourceLogLine[]): string {
  return lines
    .map(
      ({ level, logger, text }) => `${level}${logger === undefined ? "" : ` ${logger}`}: ${text}`,
    )
    .join("\n")
}
