export type JournalFormat = 'beancount' | 'hledger'

/**
 * Returns the name of a ledger account in a journal. Different accounts have different names. Both languages divide a
 * name at its colons. Ledger names may have an open part after the second colon: a wallet, share, endpoint or tab.
 *
 *     Liabilities:Overpaid:9xQe…           beancount  Liabilities:Overpaid:W-9xQe…
 *     Liabilities:Share:provider           beancount  Liabilities:Share:Provider
 *     Expenses:Burned:/api/data/crypto     beancount  Expenses:Burned:Api-data-crypto
 *
 * For hledger, a name changes only if the open part contains `-U` or a character other than ASCII letters, digits, `/`,
 * `.`, `_` and `-`.
 */
export function journalAccount(account: string, format: JournalFormat): string {
  const [, kind = account, open] = splitAccount.exec(account) ?? []
  if (open === undefined) return kind
  if (format === 'hledger' && plainInHledger.test(open) && !open.includes(escapeMark)) return account
  return `${kind}:${beancountPart(kind, open)}`
}

// Marks escaped names. A plain name that contains this mark is escaped too, so that different names stay different.
const escapeMark = '-U'
const splitAccount = /^([^:]+:[^:]+):([^]*)$/
const plainInHledger = /^[A-Za-z0-9/._-]+$/
const walletKinds: ReadonlySet<string> = new Set(
  ['Overpaid', 'RefundsDue', 'Unmatched'].map((name) => `Liabilities:${name}`),
)

/**
 * Returns the open part of a name for beancount, where a part starts with a capital or a digit, and continues with
 * letters, digits and dashes. The prefix `X-` marks unusual names, so that different names stay different.
 */
function beancountPart(kind: string, open: string): string {
  if (walletKinds.has(kind)) return `W-${escape(open)}`
  const prefix = kind === 'Expenses:Burned' ? '/' : ''
  const rest = open.slice(prefix.length)
  if (!open.startsWith(prefix) || !/^[a-z]/.test(rest)) return `X-${escape(open)}`
  return escape(rest.charAt(0).toUpperCase() + rest.slice(1))
}

/**
 * Replaces a slash before a small letter or a digit by a dash. Replaces every other character except ASCII letters and
 * digits by `-U` and its code. This includes dashes, so that different names stay different.
 */
function escape(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9/]|\/(?![a-z0-9])/g, (unit) => escapeMark + codeOf(unit)).replaceAll('/', '-')
}

function codeOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, '0')
}
