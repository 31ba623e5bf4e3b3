/**
 * Words that say little about an operation: left out of indexed prose, and optional in a query that
 * has better ones. They still count in names, so that `addToCart` is found by all three of its words.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about all also am an and any are as at be been but by can could do does for from had has have " +
    "how i if in into is it its me my of on or our please should so such than that the their then " +
    "there these they this those to us want was we were what when where which who will with would " +
    "you your"
  ).split(" "),
)

/**
 * Groups of verbs that API authors use for one another. A query for one finds the others, at a
 * lower weight: an agent asks to "fetch" what the document calls "get" or "retrieve".
 */
const SYNONYM_GROUPS: readonly string[] = [
  "get read retrieve fetch show",
  "create add new make insert post",
  "update edit modify change patch",
  "delete remove destroy",
  "list all index",
  "search find query lookup",
]

const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  SYNONYM_GROUPS.flatMap((group) => {
    const words = group.split(" ")
    return words.map((word) => [word, words.filter((other) => other !== word)] as const)
  }),
)

/** The words that commonly stand for this one in operation names; empty for most. */
export function synonymsOf(word: string): readonly string[] {
  return SYNONYMS.get(word) ?? []
}

/**
 * The part of an English word that its plural, `-ed` and `-ing` forms share.
 *
 * Deliberately light: it is only ever compared with other stems, so it need not be a word
 * (`create`, `created` and `creating` share `creat`), and anything but plain a-z is left alone.
 */
export function stem(word: string): string {
  // The last letter alone settles most words.
  if (word.length < 4 || !"sdge".includes(word.at(-1)!) || !/^[a-z]+$/.test(word)) return word
  const singular = withoutPlural(word)
  const base = withoutSuffix(singular)
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base
}

function withoutPlural(word: string): string {
  if (!word.endsWith("s") || /(?:ss|us|is)$/.test(word)) return word
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`
  return word.slice(0, -1)
}

function withoutSuffix(word: string): string {
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`
  const cut = word.endsWith("ing") ? 3 : word.endsWith("ed") && !word.endsWith("eed") ? 2 : 0
  const base = word.slice(0, word.length - cut)
  // "string" and "bed" have no stem of their own before the ending.
  if (cut === 0 || base.length < 3 || !/[aeiouy]/.test(base)) return word
  // "getting" doubles the last letter, "billing" and "passing" own theirs.
  return /([bdfgmnprt])\1$/.test(base) ? base.slice(0, -1) : base
}
