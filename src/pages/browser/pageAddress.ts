/* The state of the page is in its address: dates, report, filters and payment, but never the token of the reader. */

type PageAddress = Readonly<Record<string, string | undefined>>

export function readPageAddress(): PageAddress {
  return Object.fromEntries(new URLSearchParams(location.search))
}

/**
 * Changes parameters of the address. Empty parameters are omitted, and those that are not named stay as they are.
 * `isNew` adds an entry to the browser's history.
 */
export function writePageAddress(changed: PageAddress, { isNew = false } = {}): void {
  const next = new URLSearchParams(location.search)
  for (const [name, value = ''] of Object.entries(changed))
    if (value === '') next.delete(name)
    else next.set(name, value)
  const address = `${location.pathname}${next.size === 0 ? '' : `?${next.toString()}`}`
  if (address === `${location.pathname}${location.search}`) return
  if (isNew) history.pushState(null, '', address)
  else history.replaceState(null, '', address)
}

/**
 * Returns the signature of a transaction, also for a second mint that it moved (`arrival:`). A debit of a tab keeps its
 * reference.
 */
export function paymentKey(reference: string): string {
  return reference.replace(/^(?:solana|arrival):([^:]+).*/, '$1')
}

export function paymentAddress(reference: string): string {
  return `?${new URLSearchParams({ payment: paymentKey(reference) }).toString()}`
}
