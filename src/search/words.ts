/**
 * Words that say little about an operation: left out of indexed prose, and optional in a query that
 * has better ones. They still count in names, so that `addToCart` is found by all three of its words.
 */
export const STOP_WORDS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ (
    "a about all also am an and any are as at be been belong belongs but by can could do does for from had has have " +
    "how i if in into is it its let me my need of on or our please should so some somebody someone " +
    "something such than that the their then " +
    "there these they this those to us using via want was we were what when where which who will with would " +
    "you your"
  ).split(" "),
)

/** Words that begin a closer description of what was named before: "list commits *of a branch*". */
export const PREPOSITIONS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ "about between by for from in into of on per to under using via with within without".split(
    " ",
  ),
)

/** Words that seldom name what an operation is about: optional in a query that has better ones. */
export const WEAK_WORDS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ (
    "after again already always another any anybody anyone anything automatically before certain currently detail details different during each else every " +
    "everybody everyone everything everywhere give given here just lately later like made make many may might more most " +
    "much must new nobody none nothing now old once one only other out own people put really recently right said same say see " +
    "show someone still stuff tell thing today together too two three under up very way well without yesterday yet"
  ).split(" "),
)

/**
 * The part of an English word that its plural, `-ed` and `-ing` forms share.
 *
 * Deliberately light: it is only ever compared with other stems, so it need not be a word
 * (`create`, `created` and `creating` share `creat`), and anything but plain a-z is left alone.
 */
export function stem(word: string): string {
  // The last letter alone decides most words.
  if (word.length < 4 || !"sdge".includes(word.at(-1)!) || !/^[a-z]+$/.test(word)) return word
  const base = withoutSuffix(withoutPlural(word))
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base
}

/** A word without the ending of its plural, if it has one. */
export function singular(word: string): string {
  return word.length < 4 ? word : withoutPlural(word)
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

/** Words that look as if they were derived from a verb, but are not. */
const UNRELATED: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ (
    "character computer container conversation customer general initial newsletter original parameter register " +
    "terminal transfer vector"
  ).split(" "),
)

/** Endings that turn a verb into a noun, with the rest of the verb's stem. */
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/scription$/, "scrib"],
  [/ification$/, "ify"],
  [/(?<=[a-z]{5})at(?:ion|or)?$/, ""],
  [/(?<=[a-z]{4})ation$/, "at"],
  // If a stem still ends in "e", the word had two.
  [/(?<=[a-z]{4})(?:ion|ment|al|e)$/, ""],
  [/(?<=[a-z]{5})(?:er|or|ery)$/, ""],
]

/**
 * The root that a word shares with words derived from the same verb: `contribut` for `contributor`,
 * `contribution` and `contributed`. Looser than `stem`, so that what shares it counts for less.
 */
export function rootOf(word: string): string {
  const base = stem(word)
  if (base.length < 6 || UNRELATED.has(base) || !/^[a-z]+$/.test(base)) return base
  for (const [ending, left] of ENDINGS) {
    if (!ending.test(base)) continue
    const root = base.replace(ending, left)
    return rootOf(root.endsWith("e") ? root.slice(0, -1) : root)
  }
  return base
}
