import { ChainAudit } from '../../packages/audit/src/chainAudit.ts'
import { type ChainNode, type ChainTransaction, signaturesPerPage } from '../../packages/audit/src/chainNode.ts'
import { associatedTokenAccount } from '../../packages/audit/src/tokenAccountAddress.ts'
import { isoTime } from '@tollbook/core/clock'
import { sampleAddress } from '../store/samplePayment.ts'
import { blockTimeMs, price, type ReplayedLedger, served } from './replayedLedger.ts'

/* A ledger with two payment wallets, and a node of the test. */

export const { mint } = price
export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const [former, present] = [sampleAddress(), sampleAddress()]
export const accountOf = (wallet: string) => associatedTokenAccount({ wallet, tokenProgram, mint })
export const hourMs = 3_600_000

/** Served in the time of the former wallet, and an hour later the present one is in force. */
export function twoWallets(): ReplayedLedger {
  const ledger = served()
  const values = [former, { wallet: present, previousUntil: isoTime(blockTimeMs + 2 * hourMs) }]
  for (const [index, value] of values.entries()) {
    const validFromMs = blockTimeMs + index * hourMs
    const fields = { name: 'payment-wallet', number: index + 1, validFrom: isoTime(validFromMs), value }
    ledger.append(`payment-wallet#${index + 1}`, ['SettingChanged', fields, validFromMs])
  }
  return ledger.wait(3 * hourMs).append('solana:later', ['Unknown', {}])
}

/** A transaction that changes the balance of one account. */
export function landed(signature: string, account: string, change: number, err: unknown = null): ChainTransaction {
  const balance = (amount: number) => {
    return { accountIndex: 1, mint, owner: former, uiTokenAmount: { amount: String(amount) } }
  }
  return {
    slot: 950,
    blockTime: blockTimeMs / 1000,
    transaction: {
      signatures: [signature],
      message: { header: { numRequiredSignatures: 1 }, accountKeys: [sampleAddress(), account], instructions: [] },
    },
    meta: {
      err,
      innerInstructions: [],
      preTokenBalances: [balance(1_000)],
      postTokenBalances: [balance(1_000 + change)],
    },
  }
}

type Message = ChainTransaction['transaction']['message']

/** A transaction by which 7 arrive at the present wallet, whose key has index 1, and 4 at the former one, with index 2. */
export function landedOnBoth(
  signature: string,
  keys: readonly string[] = [],
  instructions: Message['instructions'] = [],
): ChainTransaction {
  const { transaction, meta, ...rest } = landed(signature, accountOf(present), 7)
  const both = (amount: string) => ({ accountIndex: 2, mint, owner: former, uiTokenAmount: { amount } })
  const preTokenBalances = [...meta.preTokenBalances, both('5')]
  const postTokenBalances = [...meta.postTokenBalances, both('9')]
  const accountKeys = [...transaction.message.accountKeys, accountOf(former), ...keys]
  const message = { ...transaction.message, accountKeys, instructions }
  return { ...rest, transaction: { ...transaction, message }, meta: { ...meta, preTokenBalances, postTokenBalances } }
}

interface Chain {
  readonly transactions?: ReadonlyMap<string, ChainTransaction>
  readonly signatures?: ReadonlyMap<string, readonly string[]>
  readonly balances?: ReadonlyMap<string, bigint>
  /** Time of every block. Default: that of the payments. */
  readonly landedAtMs?: number
  readonly firstSlot?: number
  readonly finalSlot?: number
}

export function nodeOf(chain: Chain): ChainNode {
  const { transactions = new Map(), signatures = new Map(), balances = new Map(), landedAtMs = blockTimeMs } = chain
  const { firstSlot = 0, finalSlot = Infinity } = chain
  return {
    transaction: (signature) => Promise.resolve(transactions.get(signature)),
    signaturesOf(account, before) {
      const all = signatures.get(account) ?? []
      const from = before === undefined ? 0 : all.indexOf(before) + 1
      const page = all.slice(from, from + signaturesPerPage)
      return Promise.resolve(
        page.map((signature: string) => ({ signature, slot: 950, err: null, blockTime: landedAtMs / 1000 })),
      )
    },
    firstSlot: () => Promise.resolve(firstSlot),
    untilFinal: (slot) => Promise.resolve(slot <= finalSlot),
    tokenProgramOf: () => Promise.resolve(tokenProgram),
    balanceOf: (account) => Promise.resolve(balances.get(account) ?? 0n),
  }
}

export async function findingsOf(ledger: ReplayedLedger, chain: Chain, kinds: readonly string[] = []) {
  const audit = new ChainAudit(nodeOf(chain), ledger.replay, { paymentWallet: present, recordedWithinMs: hourMs })
  for (const [index, read] of ledger.events.entries()) if (kinds.includes(read.event.kind)) audit.note(read, index + 1)
  await audit.drain()
  await audit.finishLive()
  return ledger.replay.findings.all().map(({ code, subject }) => [code, subject])
}
