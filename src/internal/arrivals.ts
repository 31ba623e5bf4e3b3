/**
 * What is done with each envelope that arrives as one, by the protocol or a decoder.
 *
 * Set by whoever processes results; clients in browsers have no registry, and carry nothing of it.
 */
export const arrivals: { mark?: (envelope: { readonly meta: object }) => void } = {}
