import { base58 } from '@scure/base'
import type { AuditedSettlement } from './paymentEvents.ts'
import { dueOf } from './postings.ts'
import { signatureOf } from './streamName.ts'
import type { ChainTransaction } from './chainNode.ts'
import { sumOf } from './storedTransactions.ts'
import { isTokenProgram, type TokenMove, tokenMovesOf } from './tokenMoves.ts'

/** Movements of a mint in one landed transaction. */
export interface LandedMoves {
  readonly moves: readonly TokenMove[]
  /** Net change of each token account of the mint, and who owns it, by address. */
  readonly changes: ReadonlyMap<string, { readonly owners: ReadonlySet<string>; readonly change: bigint }>
  readonly signers: readonly string[]
}

/** Reads top-level and inner instructions alike, and the balances before and after; nothing of the logs. */
export function movesOf(landed: ChainTransaction, mint: string): LandedMoves {
  const { message } = landed.transaction
  const { innerInstructions, loadedAddresses, preTokenBalances, postTokenBalances } = landed.meta
  const keys = [...message.accountKeys, ...(loadedAddresses?.writable ?? []), ...(loadedAddresses?.readonly ?? [])]
  const changes = new Map<string, { owners: Set<string>; change: bigint }>()
  const count = (balances: typeof preTokenBalances, sign: bigint): void => {
    for (const balance of balances.filter((balance) => balance.mint === mint)) {
      const account = keys[balance.accountIndex] ?? ''
      const known = changes.get(account) ?? { owners: new Set<string>(), change: 0n }
      known.owners.add(balance.owner)
      known.change += sign * BigInt(balance.uiTokenAmount.amount)
      changes.set(account, known)
    }
  }
  count(preTokenBalances, -1n)
  count(postTokenBalances, 1n)
  const calls = [...message.instructions, ...innerInstructions.flatMap(({ instructions }) => instructions)]
  const moves = calls
    .filter(({ programIdIndex }) => isTokenProgram(keys[programIdIndex] ?? ''))
    .flatMap(({ accounts, data }) => {
      const addresses = accounts.map((index) => keys[index] ?? '')
      return tokenMovesOf(addresses, Buffer.from(base58.decode(data)))
    })
    .filter((move) => move.mint === mint || (move.mint === undefined && changes.has(move.source ?? '')))
  return { moves, changes, signers: message.accountKeys.slice(0, message.header.numRequiredSignatures) }
}

/** A difference between chain and ledger, ignoring the slot; undefined when the chain confirms the payment. */
export function contradictionOf(
  landed: ChainTransaction,
  settlement: AuditedSettlement,
  paymentTokenAccount: string,
): string | undefined {
  const { wallet, evidence, reference, price } = settlement
  const { slot, blockTimeMs } = evidence
  if (landed.transaction.signatures[0] !== signatureOf(reference)) return 'the node answered with another transaction'
  const { blockTime } = landed
  // A fork may have been dropped, and the transaction have landed again in another block.
  if (landed.slot === slot && blockTime !== null && blockTime !== undefined && blockTime * 1000 !== blockTimeMs) {
    return `its block is of ${blockTime}, and ${blockTimeMs / 1000} is recorded`
  }
  const { moves, changes, signers } = movesOf(landed, price.mint)
  if (!signers.includes(wallet)) return `${wallet} did not sign it`
  if (moves.some(({ kind }) => kind === 'mint')) return 'tokens were minted in the same transaction'
  const own = moves.filter(({ authority, source }) => {
    const owners = changes.get(source ?? '')?.owners
    return authority === wallet && owners?.size === 1 && owners.has(wallet)
  })
  const burned = sumOf(own.filter(({ kind }) => kind === 'burn'))
  if (burned !== settlement.burnedBaseUnits)
    return `it burned ${burned}, and ${settlement.burnedBaseUnits} are recorded`
  const sent = sumOf(own.filter(({ kind, destination }) => kind === 'transfer' && destination === paymentTokenAccount))
  const arrived = changes.get(paymentTokenAccount)?.change ?? 0n
  if (arrived !== settlement.receivedBaseUnits) {
    return `${arrived} arrived, and ${settlement.receivedBaseUnits} are recorded as received`
  }
  // Transfers of other signers are recorded, and do not count towards the price.
  const due = dueOf(settlement)
  return sent < due ? `${wallet} sent ${sent}, and the price is ${due}` : undefined
}

/** Amounts that the transfers of a transaction took out of a token account, by the owner of the receiving account. */
export function sentTo({ moves, changes }: LandedMoves, account: string): ReadonlyMap<string, bigint> {
  const sent = new Map<string, bigint>()
  for (const { kind, source, destination, amount } of moves) {
    if (kind !== 'transfer' || source !== account) continue
    const owner = [...(changes.get(destination ?? '')?.owners ?? [])].join(' and ')
    sent.set(owner, (sent.get(owner) ?? 0n) + amount)
  }
  return sent
}

export function hasFailed({ meta }: ChainTransaction): boolean {
  return meta.err !== null && meta.err !== undefined
}
