/** The part of opossum that the benchmark uses; the package has no types. */
declare module "opossum" {
  export default class CircuitBreaker<TInput, TOutput> {
    constructor(
      action: (input: TInput) => Promise<TOutput>,
      options: { readonly timeout: false; readonly volumeThreshold: number },
    )
    fire(input: TInput): Promise<TOutput>
  }
}
