import { assert } from '@tollbook/core/assert'
import { type Address, readAddress } from '@tollbook/core/address'
import { mainnet } from '@tollbook/core/networks'
import type { SplitPart } from './events/settingEvents.ts'
import type { PaymentTerms } from './settlement.ts'

/** A dollar that the operator accepts in addition to the service token. */
export interface DollarSetting {
  readonly symbol: string
  /** Undefined: the mint of a known symbol on the network of the chain. */
  readonly mint: Address | undefined
  /** Wallet that receives payments in it. Absent: PAYMENT_WALLET. */
  readonly wallet?: Address
  /** Smallest price that is sold in it, in millionths of a US dollar. */
  readonly minimumMicroUsd: bigint
  /** `token`: each sale owes the burn in the service token. `none`: nothing is burned for it. */
  readonly burn: 'token' | 'none'
  readonly rails: readonly string[]
  /** Shares of each payment in it. Absent: those of SPLIT, and treasury gets the share of the burn. */
  readonly split?: readonly SplitPart[]
}

export interface Dollar extends Omit<DollarSetting, 'mint' | 'wallet'> {
  readonly terms: PaymentTerms
}

/** Mints by symbol, of mainnet and of all other networks: Circle's and Tether's own lists, November 2026. */
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

/** Returns the mint of a dollar on a network, or the problem of the setting there. */
export function mintOn(network: string, { symbol, mint }: DollarSetting): { readonly mint: Address } | string {
  const isMainnet = network === mainnet
  if (mint !== undefined && !isMainnet && mainnetMints.has(mint))
    return `CURRENCIES names ${mint}, which is a dollar of mainnet, and the chain is ${network}`
  const known = knownMints.get(symbol)
  const found = mint ?? readAddress((isMainnet ? known?.mainnet : known?.others) ?? '')
  return found === undefined ? `CURRENCIES names ${symbol}, which has no known mint on ${network}` : { mint: found }
}

/** Mints of a dollar on every network, for the signer, which does not know its network. */
export function possibleMints({ symbol, mint }: Pick<DollarSetting, 'symbol' | 'mint'>): readonly Address[] {
  const known = knownMints.get(symbol)
  return mint === undefined ? [known?.mainnet, known?.others].flatMap((text) => readAddress(text ?? '') ?? []) : [mint]
}

export function haveOneMint(one: DollarSetting, other: DollarSetting): boolean {
  const mints = new Set(possibleMints(one))
  assert(mints.size > 0, 'a configured dollar has a mint')
  return possibleMints(other).some((mint) => mints.has(mint))
}

/** Dollar of this mint in the configuration, which may not know the network. */
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
