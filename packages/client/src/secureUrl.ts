import { InvalidOption } from './errorCode.ts'

/** True if the host is this machine, so that no other machine can read or answer. */
export function isLoopback(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || loopbackAddress.test(url.hostname)
}

// The URL parser has turned every spelling of an IPv4 address, 127.1 and 0x7f000001 too, into four numbers.
const loopbackAddress = /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/

/** A proof is money until it is used, so it travels in the open to nowhere but this machine. */
export function requireSecureUrl(input: string | URL): URL {
  if (!URL.canParse(String(input))) throw new InvalidOption(`${String(input)} is not an absolute URL`)
  const url = new URL(input)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return url
  throw new InvalidOption(`${url.origin} is not paid: a payment goes over https, or over http to this machine only`)
}
