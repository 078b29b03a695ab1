import type { Policy } from '../policy/policy.ts'
import { WalletRefusal } from './refusalError.ts'

/** The URL of a call, if its host is on the owner's list. Compares hosts as the URL parser writes them. */
export function requireListed(text: string, { hosts }: Policy): URL {
  if (!URL.canParse(text)) throw new WalletRefusal('URL_REFUSED', 'the URL is not absolute')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new WalletRefusal('URL_REFUSED', 'the URL must begin with https://')
  // A name in front of the host is how one host poses as another.
  if (url.username !== '' || url.password !== '')
    throw new WalletRefusal('URL_REFUSED', 'the URL must not name a user or a password')
  if (!Object.hasOwn(hosts, url.host))
    throw new WalletRefusal('HOST_NOT_LISTED', `the host ${url.host} is not on the owner's list`)
  url.hash = ''
  return url
}
