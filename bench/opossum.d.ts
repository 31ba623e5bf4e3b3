/** What the benchmark uses of opossum, which has no types of its own. */
declare module "opossum" {
  export default class CircuitBreaker<TInput, TOutput> {
    constructor(
      action: (input: TInput) => Promise<TOutput>,
      options: { readonly timeout: false; readonly volumeThreshold: number },
    )
    fire(input: TInput): Promise<TOutput>
  }
}
