import { InvalidOption } from './errorCode.ts'

/** True if the host is loopback, so that no other machine can read or answer. */
export function isLoopback(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || loopbackAddress.test(url.hostname)
}

// The URL parser has already normalised every spelling of an IPv4 address, such as 127.1 and 0x7f000001.
const loopbackAddress = /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/

/** Requires https, or loopback: a proof is worth its price until it is used. */
export function requireSecureUrl(input: string | URL): URL {
  if (!URL.canParse(String(input))) throw new InvalidOption(`${String(input)} is not an absolute URL`)
  const url = new URL(input)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return url
  throw new InvalidOption(`${url.origin} is not paid: a payment goes over https, or over http to this machine only`)
}
