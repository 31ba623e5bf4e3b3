/**
 * The runtime exports of each entry of the package, sorted.
 *
 * Rewritten on purpose, together with the change it records: `npx tsx scripts/update-pins.ts`.
 */
export const EXPORTS: Readonly<Record<string, readonly string[]>> = {}
