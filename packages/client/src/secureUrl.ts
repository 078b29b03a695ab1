import { InvalidOption } from './errorCode.ts'

/** True for a loopback host, whose requests no other machine can read or answer. */
export function isLoopback(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || loopbackAddress.test(url.hostname)
}

// Only the dotted form can occur, because the URL parser has normalized other spellings of an IPv4 address, such as
// 127.1.
const loopbackAddress = /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/

/** Requires https or loopback, because anyone who reads a proof could use it. */
export function requireSecureUrl(input: string | URL): URL {
  if (!URL.canParse(String(input))) throw new InvalidOption(`${String(input)} is not an absolute URL`)
  const url = new URL(input)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return url
  throw new InvalidOption(`${url.origin} is not paid: a payment goes over https, or over http to this machine only`)
}
