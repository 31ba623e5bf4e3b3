/** Whether an address is a broker's, with workers behind it, rather than a hub's. */
export function isBroker(address: string): boolean {
  return /^(?:nats|tls|rediss?):\/\//i.test(address)
}
