/*
 * The reader's token is stored only for the session of this browser tab. The page never writes it into an address, and
 * removes it from the fragment of one.
 */

import { defaultFetch } from '@tollbook/client/defaultFetch'
import { readPageAddress } from './pageAddress.ts'
import { element } from './element.ts'

const key = 'tollbook finance token'

/**
 * Takes the token out of the fragment of the address. Browsers do not send a fragment to the server, so no log of the
 * service contains the token.
 */
export function takeTokenFromFragment(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return
  keepToken(token)
  history.replaceState(null, '', `${location.pathname}${location.search}`)
}

export function keepToken(token: string): void {
  sessionStorage.setItem(key, token.trim())
}

export function forgetToken(): void {
  sessionStorage.removeItem(key)
}

export function hasToken(): boolean {
  return sessionStorage.getItem(key) !== null
}

/** Thrown if the token is not valid. */
export class Refused extends Error {}
/** Thrown if the token is valid, but its role may not read the requested report. */
export class Forbidden extends Error {}

export type Parameters = Readonly<Record<string, string | undefined>>

/** Reads a report. The type of the answer is not checked, because page and service are from the same release. */
export async function read<Data>(path: string, parameters: Parameters = {}): Promise<Data> {
  return dataOf(await ask(path, parameters))
}

export interface Decision {
  readonly action: string
  readonly payment: string
  readonly reason: string
}

/** Sends a decision, which the service records under the name of the token's holder. */
export async function decide(decision: Decision): Promise<{ readonly position: number }> {
  const headers = { ...authorization(), 'content-type': 'application/json' }
  return dataOf(await send('api/finance/decisions', { method: 'POST', headers, body: JSON.stringify(decision) }))
}

/** Sends a request of the pages. The library that draws documents sends its requests itself. */
export function send(address: string, init?: RequestInit): Promise<Response> {
  return defaultFetch(address, init)
}

/** Returns the data of an answer. Throws its message if it is an error. */
export async function dataOf<Data>(response: Response): Promise<Data> {
  const unreadable = () => ({ error: `the service answered ${response.status}` })
  const body: { data: Data; error: string } = await response.json().catch(unreadable)
  if (response.status === 401) throw new Refused(body.error)
  if (response.status === 403) throw new Forbidden(body.error)
  if (!response.ok) throw new Error(body.error)
  return body.data
}

/**
 * Saves a report as a file. A plain link could not send the token, so the report is fetched and saved from memory. The
 * file has the bytes of the answer, because closing statements are signed.
 */
export async function saveReport(name: string, report: string, parameters: Parameters): Promise<void> {
  const response = await ask(report, parameters)
  if (!response.ok) await dataOf(response)
  const link = element('a', { href: URL.createObjectURL(await response.blob()), download: name })
  link.click()
  URL.revokeObjectURL(link.href)
}

function ask(path: string, parameters: Parameters): Promise<Response> {
  const query = new URLSearchParams()
  // Omit the mint if the path has a slash, because such a path requests a single payment or an explanation, whose mint
  // is fixed.
  const { mint } = path.includes('/') ? {} : readPageAddress()
  if (mint !== undefined) query.set('mint', mint)
  for (const [name, value = ''] of Object.entries(parameters)) if (value !== '') query.set(name, value)
  const target = query.size === 0 ? path : `${path}?${query.toString()}`
  return send(`api/finance/${target}`, { headers: authorization(), cache: 'no-store' })
}

function authorization() {
  return { authorization: `Bearer ${sessionStorage.getItem(key) ?? ''}` }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
