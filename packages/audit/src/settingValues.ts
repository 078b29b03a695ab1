import { z } from 'zod'
import { utcTime } from './body.ts'
import { describeSplit } from './split.ts'
import { addressForm } from './tokenAccountAddress.ts'

/*
 * Parses the settings that determine the meaning of a ledger (docs/ledger.md). The receipt key, the wallets and the
 * split may change. The other settings in the list never change. Settings that are not in the list have no rule.
 */

/** A parsed value. Equal values have equal texts. */
export interface SettingValue {
  readonly text: string
  /**
   * End of the previous value's period, in milliseconds since 1970. Undefined: the previous value ends when this value
   * comes into force.
   */
  readonly previousUntilMs?: number | undefined
}

const overlap = { previousUntil: utcTime }
const address = z.string().regex(addressForm)
const entries = z.array(z.strictObject({ account: z.string(), perMille: z.int().min(0) })).min(1)

const text = z.string().transform((value): SettingValue => ({ text: value }))
const wallet = z.union([
  address.transform((value): SettingValue => ({ text: value })),
  z
    .strictObject({ wallet: address, ...overlap })
    .transform((value): SettingValue => ({ text: value.wallet, previousUntilMs: value.previousUntil })),
])
const split = z.union([
  entries.transform((shares): SettingValue => ({ text: describeSplit(shares) })),
  z
    .strictObject({ shares: entries, ...overlap })
    .transform((value): SettingValue => ({ text: describeSplit(value.shares), previousUntilMs: value.previousUntil })),
])
const receiptKey = z
  .strictObject({
    crv: z.literal('Ed25519'),
    kty: z.literal('OKP'),
    // Refuse another spelling of a key, with which a retired key could be used again.
    x: z.string().refine((x) => x.length === 43 && Buffer.from(x, 'base64url').toString('base64url') === x),
    kid: z.string().optional(),
    previousUntil: utcTime.optional(),
  })
  .transform((value): SettingValue => ({ text: value.x, previousUntilMs: value.previousUntil }))
const mint = z
  .strictObject({ decimals: z.int().min(0), tokenProgram: address })
  .transform((value): SettingValue => ({ text: value.tokenProgram }))

/** Schema of each setting's value. A name that ends with a slash applies to all names that begin with it. */
const forms: readonly (readonly [name: string, form: z.ZodType<SettingValue>])[] = [
  ['receipt-key', receiptKey],
  ['payment-wallet', wallet],
  // Wallet for payments in a dollar token. The mint follows the slash.
  ['payment-wallet/', wallet],
  ['tab-wallet', wallet],
  ['split', split],
  ['token-mint', text],
  ['network', text],
  ['origin', text],
  ['mint/', mint],
]
const fixed: ReadonlySet<z.ZodType> = new Set([text, mint])

function formOf(name: string): z.ZodType<SettingValue> | undefined {
  return forms.find(([known]) => (known.endsWith('/') ? name.startsWith(known) : name === known))?.[1]
}

export function mayChange(name: string): boolean {
  const form = formOf(name)
  return form === undefined || !fixed.has(form)
}

/** Parses a value. Undefined if the setting has no rule, and an error text if the value has the wrong form. */
export function readSettingValue(name: string, value: unknown): SettingValue | string | undefined {
  const schema = formOf(name)
  if (schema === undefined) return undefined
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : 'the value has another form than this setting has'
}
