import { z } from 'zod'
import { utcTime } from './body.ts'
import { describeSplit } from './split.ts'
import { addressForm } from './tokenAccountAddress.ts'

/*
 * Values of the settings that determine the meaning of a ledger (docs/ledger.md). The receipt key, the wallets and
 * the split may change; the others never do. Settings with other names have no rule.
 */

/** A value as text. Equal values have equal texts. */
export interface SettingValue {
  readonly text: string
  /** End of the previous value's period. Undefined: the previous value ends when this one comes into force. */
  readonly previousUntilMs: number | undefined
}

const overlap = { previousUntil: utcTime }
const publicKey = { crv: z.literal('Ed25519'), kty: z.literal('OKP'), x: z.string().regex(/^[\w-]{43}$/) }
const keyName = { kid: z.string().optional() }
const address = z.string().regex(addressForm)
const splitEntries = z.array(z.strictObject({ account: z.string(), perMille: z.int().min(0) })).min(1)

const valueOf = (text: string, previousUntilMs?: number): SettingValue => ({ text, previousUntilMs })

const walletValue = z.union([
  address.transform((wallet) => valueOf(wallet)),
  z
    .strictObject({ wallet: address, ...overlap })
    .transform(({ wallet, previousUntil }) => valueOf(wallet, previousUntil)),
])

const changeable: ReadonlyMap<string, z.ZodType<SettingValue>> = new Map<string, z.ZodType<SettingValue>>([
  [
    'receipt-key',
    z
      .strictObject({ ...publicKey, ...keyName, previousUntil: utcTime.optional() })
      .transform(({ x, previousUntil }) => valueOf(x, previousUntil)),
  ],
  ['payment-wallet', walletValue],
  ['tab-wallet', walletValue],
  [
    'split',
    z.union([
      splitEntries.transform((shares) => valueOf(describeSplit(shares))),
      z
        .strictObject({ shares: splitEntries, ...overlap })
        .transform(({ shares, previousUntil }) => valueOf(describeSplit(shares), previousUntil)),
    ]),
  ],
])

const text = z.string().transform((value) => valueOf(value))
const fixed: ReadonlyMap<string, z.ZodType<SettingValue>> = new Map<string, z.ZodType<SettingValue>>([
  ['token-mint', text],
  ['network', text],
  ['origin', text],
])
const mint = z.strictObject({ decimals: z.int().min(0), tokenProgram: address }).transform(({ tokenProgram }) => {
  return valueOf(tokenProgram)
})

export function mayChange(name: string): boolean {
  return !fixed.has(name) && !isMint(name)
}

/** Parses a value. Undefined if the setting has no rule, and an error text if the value has the wrong form. */
export function readSettingValue(name: string, value: unknown): SettingValue | string | undefined {
  const schema =
    changeable.get(name) ??
    fixed.get(name) ??
    (isMint(name) ? mint : name.startsWith(dollarWallet) ? walletValue : undefined)
  if (schema === undefined) return undefined
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : 'the value has another form than this setting has'
}

// The wallet of a dollar, by its mint.
const dollarWallet = 'payment-wallet/'

function isMint(name: string): boolean {
  return name.startsWith('mint/')
}
