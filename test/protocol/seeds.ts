/** Seeds whose histories once went wrong, each with what it was. They are run first, always. */
export const SEEDS: Readonly<Record<number, string>> = {
  174: "a served stream without credit outlived its deadline, the abort being lost",
  315: "as 174, with a deadline of a minute",
  351: "as 174, with credit that came twice",
  377: "as 174, with a window of one",
  2306: "a queued call ran long after its deadline, the abort being lost",
}
