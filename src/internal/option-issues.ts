import { checkOption, type OptionPlace, type OptionRule, type OptionsSchema } from "./options.ts"

/** An invalid member of some data. */
interface DataIssue {
  /** Empty for the data itself. */
  readonly path: string
  readonly message: string
}

/** Finds the first invalid member of data from a file: unknown members are ignored, and no value is quoted. */
export function findDataIssue(data: unknown, schema: OptionsSchema): DataIssue | undefined {
  return firstIssue({ path: "", isSecret: true, isOpen: true }, { members: schema }, data)
}

/** Finds the first member of a value that is unknown or invalid, as a JSON pointer and a part of a sentence. */
export function findOptionIssue(value: unknown, rule: OptionRule): DataIssue | undefined {
  const issue = firstIssue({ path: "" }, rule, value)
  if (issue === undefined) return undefined
  const path = issue.path === "" ? "" : `/${issue.path.replaceAll(".", "/")}`
  const message = issue.message.replace(/\. Did you mean (.*)\?$/, " (did you mean $1?)")
  return { path, message: message.replace(/\.$/, "") }
}

function firstIssue(
  place: Omit<OptionPlace, "fail">,
  rule: OptionRule,
  value: unknown,
): DataIssue | undefined {
  let issue: DataIssue | undefined
  const fail = (path: string, message: string): Error => {
    issue = { path, message }
    return new Error(message)
  }
  try {
    checkOption({ ...place, fail }, rule, value)
  } catch (thrown) {
    if (issue === undefined) throw thrown
  }
  return issue
}
