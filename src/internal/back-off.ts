/** Milliseconds to wait after one or more failed attempts: the first delay doubles with each further failure. */
export function backOff(failures: number, first: number, longest: number): number {
  // The exponent is bounded, so that the delay is always a number.
  return Math.min(longest, first * 2 ** Math.min(failures - 1, 30))
}

/** A delay reduced by up to a random half, so that clients do not all retry at the same time. */
export function withJitter(milliseconds: number, random: () => number = Math.random): number {
  return Math.round(milliseconds * (0.5 + random() / 2))
}
