/** Returns the URL of a listener, with an IPv6 address in brackets. */
export function listeningUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
