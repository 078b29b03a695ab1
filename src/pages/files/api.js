/* The reports over HTTP, with the reader's token. It is kept for the session of this tab and is never part of an address. */

const key = 'tollbook finance token'

export function takeTokenFromFragment() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return
  keepToken(token)
  history.replaceState(null, '', `${location.pathname}${location.search}`)
}

export function keepToken(token) {
  sessionStorage.setItem(key, token.trim())
}

export function forgetToken() {
  sessionStorage.removeItem(key)
}

export function hasToken() {
  return sessionStorage.getItem(key) !== null
}

export class Refused extends Error {}
/** The token is valid, and its role may not read this. */
export class Forbidden extends Error {}

export async function read(path, parameters = {}) {
  const response = await ask(path, parameters)
  const body = await response.json().catch(() => ({ error: `the service answered ${response.status}` }))
  return dataOf(response, body)
}

/** Records a decision about a refund in the name of the token's holder. */
export async function decide(decision) {
  const response = await fetch('api/finance/decisions', {
    method: 'POST',
    headers: { authorization: `Bearer ${sessionStorage.getItem(key)}`, 'content-type': 'application/json' },
    body: JSON.stringify(decision),
  })
  return dataOf(response, await response.json())
}

function dataOf(response, body) {
  if (response.status === 401) throw new Refused(body.error)
  if (response.status === 403) throw new Forbidden(body.error)
  if (!response.ok) throw new Error(body.error)
  return body.data
}

/** The file that the service makes; the reader's browser saves it. */
export async function saveCsv(report, parameters) {
  const response = await ask(report, { ...parameters, format: 'csv' })
  if (!response.ok) throw new Error((await response.json()).error)
  saveFile(`tollbook-${report}.csv`, await response.blob())
}

export function saveFile(name, blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

function ask(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given).toString()
  return fetch(`api/finance/${path}${query === '' ? '' : `?${query}`}`, {
    headers: { authorization: `Bearer ${sessionStorage.getItem(key)}` },
    cache: 'no-store',
  })
}
