import { type Address, readAddress } from '@tollbook/core/address'
import { assert, assertNever } from '@tollbook/core/assert'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { formatDecimal } from '@tollbook/core/money'
import { z } from 'zod'
import type { SplitPart } from '../payment/events/settingEvents.ts'
import { type PublicReceiptKey, publicReceiptKey } from './receiptKeys.ts'
import type { SettingPeriod, SettingStanding } from './settingPeriods.ts'
import { dollarOfWalletSetting, paymentWalletName, tabWalletName } from './walletSettings.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import { isWhole, type SettingValue } from './settings.ts'

export interface ConfiguredSetting extends SettingValue {
  readonly variable: string
}

export interface SettingSources {
  readonly receiptKey: PublicReceiptKey
  readonly terms: PaymentTerms
  readonly dollars?: readonly PaymentTerms[]
  /** Undefined if the service sells no tabs. */
  readonly tabWallet: string | undefined
  readonly split: readonly SplitPart[]
  readonly origin: string
}

export const mintPrefix = 'mint/'

/** Value of the setting of a mint. */
export const recordedMint = z.object({
  decimals: z.int(),
  tokenProgram: z.custom<Address>((value) => typeof value === 'string' && readAddress(value) !== undefined),
})

/** Settings that the configuration must share with the ledger. */
export function configuredSettings(sources: SettingSources): readonly ConfiguredSetting[] {
  const { receiptKey, terms, dollars = [], tabWallet, split, origin } = sources
  const { mint, decimals, tokenProgram, paymentWallet, network } = terms
  const shares = split.map(({ account, perMille }) => ({ account, perMille }))
  assert(isWhole(shares), 'the configured split is the whole of each payment')
  return [
    // Record the origin first, because each checkpoint is signed with the origin and must cover its record.
    { name: 'origin', value: origin, variable: 'LEDGER_ORIGIN' },
    { name: 'receipt-key', value: publicReceiptKey.parse(receiptKey), variable: 'RECEIPT_SIGNING_KEY' },
    { name: paymentWalletName(), value: paymentWallet, variable: 'PAYMENT_WALLET' },
    { name: `${mintPrefix}${mint}`, value: { decimals, tokenProgram }, variable: 'SOLANA_RPC_URLS' },
    { name: 'split', value: shares, variable: 'SPLIT' },
    { name: 'token-mint', value: mint, variable: 'TOKEN_MINT' },
    { name: 'network', value: network, variable: 'SOLANA_RPC_URLS' },
    ...dollars.flatMap((dollar) => [
      {
        name: `${mintPrefix}${dollar.mint}`,
        value: { decimals: dollar.decimals, tokenProgram: dollar.tokenProgram },
        variable: 'CURRENCIES',
      },
      // Record the wallet even if it is PAYMENT_WALLET, because a first value also applies to all earlier time.
      { name: paymentWalletName(dollar.mint), value: dollar.paymentWallet, variable: 'wallet= of CURRENCIES' },
    ]),
    ...(tabWallet === undefined ? [] : [{ name: tabWalletName, value: tabWallet, variable: 'TAB_WALLET' }]),
  ]
}

export interface SettingDifference {
  readonly configured: ConfiguredSetting
  readonly recorded: Json
  readonly since: string
}

export function differenceFrom(configured: ConfiguredSetting, inForce: SettingPeriod): SettingDifference {
  const { name, number, position, validFrom, value } = inForce
  assert(configured.name === name, 'a value is compared with its own setting')
  return { configured, recorded: value, since: `${validFrom} (${name}#${number}, event ${position})` }
}

/**
 * Includes the command that changes each setting, or the advice to restore the value of a setting that keeps its first
 * value.
 */
export function differencesText(differences: readonly SettingDifference[]): string {
  assert(differences.length > 0, 'a refusal to start names a difference')
  const [count, s] = [differences.length, differences.length === 1 ? '' : 's']
  const parts = differences.map(({ configured, recorded, since }) => {
    const { name, value, variable } = configured
    const command = changeCommand(configured)
    const advice =
      command === undefined
        ? `This setting keeps its first value. Set ${variable} back, or use another database.`
        : `Set ${variable} back. To change the setting: ${command}`
    return `  ${variable} (setting ${name})
    recorded:   ${settingText(name, recorded)} since ${since}
    configured: ${settingText(name, value)}
    ${advice}`
  })
  return `${count} setting${s} of the ledger differ${count === 1 ? 's' : ''} from the configuration, so the service does not start:\n${parts.join('\n')}`
}

/** Undefined for a setting that keeps its first value. */
function changeCommand({ name, value }: ConfiguredSetting): string | undefined {
  const dollar = dollarOfWalletSetting(name)
  if (dollar !== undefined) return `npx tollbook wallet change --mint ${dollar} ${settingText(name, value)}`
  switch (name) {
    case 'receipt-key':
      return `npx tollbook key rotate ${settingText(name, value)}`
    case paymentWalletName():
      return `npx tollbook wallet change ${settingText(name, value)}`
    case tabWalletName:
      return `npx tollbook wallet tabs change ${settingText(name, value)}`
    case 'split':
      return `npx tollbook split change ${settingText(name, value)}`
    default:
      return undefined
  }
}

const splitValue = z.array(z.object({ account: z.string(), perMille: z.int() }))
const keyValue = z.object({ x: z.string() })

/** Returns the value as the operator writes it. A value that has no such form is shown as JSON. */
export function settingText(name: string, value: Json): string {
  if (typeof value === 'string') return value
  const key = name === 'receipt-key' ? keyValue.safeParse(value).data : undefined
  const split = name === 'split' ? splitValue.safeParse(value).data : undefined
  if (key !== undefined) return key.x
  return split === undefined ? canonicalJson(value) : splitText(split)
}

function splitText(split: readonly SplitPart[]): string {
  return split.map(({ account, perMille }) => `${account}:${formatDecimal(BigInt(perMille), 1)}`).join(',')
}

export interface ClosingTime {
  readonly nowMs: number
  /** The instance stops selling this long before the end of the value. */
  readonly closingMs: number
}

/**
 * An instance with an outgoing value stops selling before the value ends. An instance with an incoming value sells only
 * once the value takes effect.
 */
export function standingProblem(
  { name, variable }: ConfiguredSetting,
  standing: SettingStanding,
  { nowMs, closingMs }: ClosingTime,
): string | undefined {
  switch (standing.standing) {
    case 'unrecorded':
      return undefined
    case 'accepted':
      return nowMs < standing.untilMs - closingMs
        ? undefined
        : `${variable} is accepted only until ${isoTime(standing.untilMs)}; restart this instance with the new ${name}`
    case 'not_yet':
      return `${variable} takes effect at ${isoTime(standing.fromMs)}; this instance sells from then on`
    case 'differs':
      return `${variable} is not the ${name} of the ledger since ${standing.inForce.validFrom}; restart this instance with the value on record`
    default:
      return assertNever(standing)
  }
}
