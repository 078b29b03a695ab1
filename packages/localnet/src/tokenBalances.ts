import type { ResolvedTransaction } from './accountKeys.ts'
import type { ReadAccount } from './addressLookupTable.ts'
import { isTokenProgram } from './programs.ts'
import { parseMint, parseTokenAccount } from './tokenAccount.ts'

export interface TokenBalance {
  readonly accountIndex: number
  readonly mint: Uint8Array
  readonly owner: Uint8Array
  readonly program: Uint8Array
  readonly amount: bigint
  readonly decimals: number
}

export interface Balances {
  readonly lamports: readonly bigint[]
  readonly tokens: readonly TokenBalance[]
}

export interface BalanceSource {
  readonly account: ReadAccount
  readonly lamports: (address: Uint8Array) => bigint
}

/**
 * Agave's collector reports token balances only if a token program is among the accounts, and never for an account that
 * is called as a program.
 */
export function collectBalances(transaction: ResolvedTransaction, source: BalanceSource): Balances {
  const { keys, invoked } = transaction
  if (!keys.some(({ address }) => isTokenProgram(address))) {
    return { lamports: keys.map(({ address }) => source.lamports(address)), tokens: [] }
  }
  const lamports: bigint[] = []
  const tokens: TokenBalance[] = []
  for (const [accountIndex, { address }] of keys.entries()) {
    // Do not read the account of a program, because a copy of its code may have half a megabyte.
    const isProgram = invoked.has(accountIndex) || isTokenProgram(address)
    const state = isProgram ? undefined : source.account(address)
    lamports.push(isProgram ? source.lamports(address) : (state?.lamports ?? 0n))
    const account = state === undefined ? undefined : parseTokenAccount(state)
    if (state === undefined || account === undefined) continue
    const decimals = decimalsOf(account.mint, source.account)
    if (decimals === undefined) continue
    const { mint, owner, amount } = account
    tokens.push({ accountIndex, mint, owner, program: state.owner, amount, decimals })
  }
  return { lamports, tokens }
}

/** Returns the fee. Transfers between the accounts do not change their total balance, so only the fee reduces it. */
export function chargedLamports(before: Balances, after: Balances): bigint {
  const sum = ({ lamports }: Balances): bigint => lamports.reduce((total, each) => total + each, 0n)
  return sum(before) - sum(after)
}

/** Reads the decimals without a cache, because the transaction itself may create the mint. */
function decimalsOf(mint: Uint8Array, read: ReadAccount): number | undefined {
  const state = read(mint)
  return state === undefined ? undefined : parseMint(state)?.decimals
}
