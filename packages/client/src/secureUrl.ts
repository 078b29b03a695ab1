import { InvalidOption } from './errorCode.ts'

/** True for a loopback host, whose requests no other machine can read or answer. */
export function isLoopback(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || loopbackAddress.test(url.hostname)
}

// Only the dotted form can occur, because the URL parser has normalized other spellings of an IPv4 address, such as
// 127.1.
const loopbackAddress = /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/

/** Undefined if `fetch` can request the URL. `fetch` refuses a login in a URL, and its error quotes the password. */
export function findUrlProblem(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return `${text} is not a URL that begins with https:// or http://`
  const { host, username, password } = new URL(text)
  return username + password === '' ? undefined : `the URL of ${host} must have no user name and no password`
}

export function requireHttpUrl(input: string | URL): URL {
  const problem = findUrlProblem(String(input))
  if (problem !== undefined) throw new InvalidOption(problem)
  return new URL(input)
}

/** Requires https or loopback, because anyone who reads a proof could use it. */
export function requireSecureUrl(input: string | URL): URL {
  const url = requireHttpUrl(input)
  if (url.protocol === 'https:' || isLoopback(url)) return url
  throw new InvalidOption(`${url.origin} is not paid: a payment goes over https, or over http to this machine only`)
}
