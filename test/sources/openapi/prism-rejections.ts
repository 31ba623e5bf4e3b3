/** Requests that Prism does not answer, and why; may only get shorter. */
export const REJECTIONS: ReadonlyMap<string, string> = new Map([
  [
    "docker-engine.yaml.gz Session",
    "Prism answers 101, which is an upgrade of the connection and no answer to fetch.",
  ],
])
