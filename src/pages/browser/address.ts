/* The state of the page in its address: dates, report, filters and payment. The address never contains the token. */

const names = [
  'mint',
  'from',
  'to',
  'month',
  'quarter',
  'report',
  'by',
  'state',
  'refund',
  'endpoint',
  'wallet',
  'owedTo',
  'tab',
  'columns',
  'payment',
  'view',
] as const

type Address = Partial<Record<(typeof names)[number], string>>

export function readAddress(): Address {
  const given = new URLSearchParams(location.search)
  return Object.fromEntries(names.flatMap((name) => (given.has(name) ? [[name, given.get(name)]] : [])))
}

/** Replaces the given parameters and omits empty ones. `isNew` adds an entry to the browser's history. */
export function writeAddress(changed: Address, { isNew = false } = {}): void {
  const next = new URLSearchParams()
  const values = { ...readAddress(), ...changed }
  for (const name of names) {
    const value = values[name] ?? ''
    if (value !== '') next.set(name, value)
  }
  const query = next.toString()
  const address = `${location.pathname}${query === '' ? '' : `?${query}`}`
  if (address === `${location.pathname}${location.search}`) return
  if (isNew) history.pushState(null, '', address)
  else history.replaceState(null, '', address)
}

/** Returns the short form of a payment's reference for addresses. */
export function paymentKey(reference: string): string {
  return reference.replace(/^solana:/, '')
}

/** Returns the address that opens a payment on this page. */
export function paymentAddress(reference: string): string {
  return `?${new URLSearchParams({ payment: paymentKey(reference) }).toString()}`
}
