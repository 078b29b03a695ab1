import { assert } from '@tollbook/core/assert'
import { type Address, readAddress } from '@tollbook/core/address'
import { mainnet } from '@tollbook/core/networks'
import type { SplitPart } from './events/settingEvents.ts'
import type { PaymentTerms } from './settlement.ts'

export interface DollarSetting {
  readonly symbol: string
  /** Mint from the configuration. Undefined: the mint of a known symbol on the network of the chain. */
  readonly mint: Address | undefined
  /** Absent: PAYMENT_WALLET. */
  readonly wallet?: Address
  readonly minimumMicroUsd: bigint
  /** `token`: each sale owes the burn in the service token. `none`: sales in this dollar token burn nothing. */
  readonly burn: 'token' | 'none'
  readonly rails: readonly string[]
  /** Absent: the shares of SPLIT apply, and the treasury also gets the share of the burn. */
  readonly split?: readonly SplitPart[]
}

export interface Dollar extends Omit<DollarSetting, 'mint' | 'wallet'> {
  readonly terms: PaymentTerms
}

/** Mints by symbol: on mainnet, and on all other networks. Source: the lists of Circle and Tether, November 2026. */
const knownMints: ReadonlyMap<string, { readonly mainnet: string; readonly others: string | undefined }> = new Map([
  [
    'USDC',
    {
      mainnet: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      others: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    },
  ],
  ['USDT', { mainnet: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', others: undefined }],
])

const mainnetMints: ReadonlySet<string> = new Set([...knownMints.values()].map(({ mainnet }) => mainnet))

/**
 * Returns the mint on this network. A string is the message for the operator: no known mint on this network, or a
 * mainnet mint on another network.
 */
export function mintOn(network: string, { symbol, mint }: DollarSetting): { readonly mint: Address } | string {
  const isMainnet = network === mainnet
  if (mint !== undefined && !isMainnet && mainnetMints.has(mint))
    return `CURRENCIES names ${mint}, which is a dollar of mainnet, and the chain is ${network}`
  const known = knownMints.get(symbol)
  const found = mint ?? readAddress((isMainnet ? known?.mainnet : known?.others) ?? '')
  return found === undefined ? `CURRENCIES names ${symbol}, which has no known mint on ${network}` : { mint: found }
}

/**
 * Returns the mints that the dollar can have. Covers every network, because the configuration of the signer does not
 * have the network.
 */
export function possibleMints({ symbol, mint }: Pick<DollarSetting, 'symbol' | 'mint'>): readonly Address[] {
  const known = knownMints.get(symbol)
  return mint === undefined ? [known?.mainnet, known?.others].flatMap((text) => readAddress(text ?? '') ?? []) : [mint]
}

export function haveOneMint(one: DollarSetting, other: DollarSetting): boolean {
  const mints = new Set(possibleMints(one))
  assert(mints.size > 0, 'a configured dollar has a mint')
  return possibleMints(other).some((mint) => mints.has(mint))
}

/** Finds the dollar of a mint. Compares the mints of every network, because the caller may not have the network. */
export function dollarOfMint(mint: string, currencies: readonly DollarSetting[]): DollarSetting | undefined {
  const found = currencies.filter((each) => possibleMints(each).some((possible) => possible === mint))
  assert(found.length <= 1, 'a mint is that of one dollar')
  return found[0]
}

export function symbolOfMint(mint: string): string | undefined {
  return [...knownMints].find(([, { mainnet, others }]) => mint === mainnet || mint === others)?.[0]
}

export function isKnownDollar(symbol: string): boolean {
  return knownMints.has(symbol)
}
