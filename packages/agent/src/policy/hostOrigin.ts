/** Origin of a listed host. Only this machine is reached without TLS: a proof is worth its price until it is used. */
export function hostOrigin(host: string): string {
  return `${/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host) ? 'http' : 'https'}://${host}`
}
