/** What a query asks for: to be told something, or to change something; `undefined` if it does not say. */
export type Intent = "read" | "change" | undefined

/** Words that say nothing about what follows: "how do I", "please", "I want to". */
const OPENING: ReadonlySet<string> = /* @__PURE__ */ wordsOf(
  "i we you please want would like need to can could help let me us just",
)

/** Words that begin a question, and verbs that ask for information. */
const ASKING: ReadonlySet<string> = /* @__PURE__ */ wordsOf(
  "who whose which what when where why is are was were does did has have any " +
    "show see list get find search look lookup fetch read retrieve view display print tell check count compare " +
    "browse inspect describe query download",
)

/** Verbs that ask for a change. */
const CHANGING: ReadonlySet<string> = /* @__PURE__ */ wordsOf(
  "create add make insert post write generate register publish upload save store put set update edit modify " +
    "change patch replace rename move copy fork transfer delete remove destroy purge drop clear archive restore start stop " +
    "run execute trigger launch rerun restart cancel end close reopen open approve accept reject deny merge send " +
    "enable disable activate assign invite grant revoke lock unlock block unblock mark pay charge refund attach detach " +
    "allow apply ask confirm connect convert deploy dismiss drain evict expire expose extend finalize forbid give hide import " +
    "install let limit make notify pause protect put redirect renew require reset resolve restrict resume revert rotate route " +
    "scale schedule share stop submit subscribe suspend switch sync trigger undo uninstall unlink upgrade withdraw",
)

/** Words before a noun: the first word of "withdraw our balance" is a verb. */
const BEFORE_NOUN: ReadonlySet<string> = /* @__PURE__ */ wordsOf(
  "a an the on my our your their his her its this that these those all every each some someone everything something",
)

/** What the words of a query ask for. A single word may be a name. */
export function intentOf(parts: readonly string[]): Intent {
  if (parts.length < 2) return undefined
  const isHow =
    parts[0] === "how" && ["do", "can", "to", "could", "should"].includes(parts[1] ?? "")
  const at = parts.findIndex((word, i) => i >= (isHow ? 2 : 0) && !OPENING.has(word))
  const [first = "", second = ""] = parts.slice(Math.max(at, 0))
  if (ASKING.has(first) || first === "how") return "read"
  if (CHANGING.has(first) || BEFORE_NOUN.has(second)) return "change"
  return parts.some((word) => CHANGING.has(word)) ? undefined : "read"
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(" "))
}
