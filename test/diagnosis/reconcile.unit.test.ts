import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import type { Signature } from '@tollbook/core/signature'
import { reconcile, type ReconcileDeps } from '../../src/diagnosis/reconcile.ts'
import { type ListedSignature, listedMax } from '../../src/payment/finalityReader.ts'
import { requireSignature, transactionReference } from '../../src/payment/paymentReference.ts'
import { sampleAddress, sampleMint, sampleReference } from '../store/samplePayment.ts'

/* A chain in memory, whose transactions each change the balances of token accounts. */

const account = sampleAddress()
const former = sampleAddress()
const payer = sampleAddress()
const walletOf = new Map([
  [account, sampleAddress()],
  [former, sampleAddress()],
])

interface Landed {
  readonly signature: Signature
  /** Change of each token account in base units. */
  readonly changes: Partial<Record<string, bigint>>
  readonly memo?: string
  readonly hasFailed?: boolean
}

function landed(changes: Landed['changes'], more: Partial<Landed> = {}): Landed {
  return { signature: requireSignature(sampleReference()), changes, ...more }
}

/** `transactions` are newest first. `recorded` are those that the ledger has. */
function open(transactions: readonly Landed[], { recorded = [] as readonly Landed[], ledgerBaseUnits = 0n } = {}) {
  const found: Signature[] = []
  const pages: (Signature | undefined)[] = []
  const known = new Set(recorded.map(({ signature }) => transactionReference(signature)))
  const terms = [account, former].map((paymentTokenAccount) => {
    const paymentWallet = walletOf.get(paymentTokenAccount) ?? account
    return { mint: sampleMint, decimals: 6, tokenProgram: account, paymentWallet, paymentTokenAccount, network: 'x' }
  })
  const accountOf = new Map(terms.map(({ paymentWallet, paymentTokenAccount }) => [paymentWallet, paymentTokenAccount]))
  const deps: ReconcileDeps = {
    clock: systemClock,
    facts: {
      walletBalance: async () => ledgerBaseUnits,
      accounted: async (references) => new Set(references.filter((reference) => known.has(reference))),
    },
    chain: {
      reader: {
        async find(signature) {
          found.push(signature)
          const transaction = transactions.find((each) => each.signature === signature)
          const balances = Object.entries(transaction?.changes ?? {}).map(([tokenAccount, change = 0n]) => ({
            tokenAccount: tokenAccount as typeof account,
            mint: sampleMint,
            ownersSeen: [],
            beforeBaseUnits: 1_000n,
            afterBaseUnits: 1_000n + change,
          }))
          const record = {
            signature,
            slot: 1,
            blockTimeMs: 0,
            failure: undefined,
            signers: [],
            movements: balances.map(({ tokenAccount }) => ({
              kind: 'transfer' as const,
              tokenProgram: account,
              mint: sampleMint,
              source: payer,
              destination: tokenAccount,
              authority: payer,
              amountBaseUnits: 1n,
            })),
            memos: [],
          }
          return { kind: 'found', slot: 1, nodes: 1, isAgreed: true, record: { ...record, balances, bytes: undefined } }
        },
        async readBalance({ wallet }) {
          const own = accountOf.get(wallet) ?? ''
          const changes = transactions
            .filter(({ hasFailed }) => hasFailed !== true)
            .map(({ changes: all }) => all[own] ?? 0n)
          return Object.assign(Object.create(null), { baseUnits: changes.reduce((sum, change) => sum + change, 0n) })
        },
      },
      finality: {
        async listSignatures({ account: own, before }) {
          pages.push(before)
          const listed = transactions.filter(({ changes }) => own in changes)
          const start = before === undefined ? 0 : listed.findIndex(({ signature }) => signature === before) + 1
          return listed
            .slice(start, start + listedMax)
            .map(({ signature, memo, hasFailed = false }): ListedSignature => ({
              signature,
              slot: 1,
              blockTimeMs: 0,
              memo,
              hasFailed,
            }))
        },
      },
    },
    allTerms: () => terms,
  }
  return { reconcile: () => reconcile(deps, sampleMint), found, pages }
}

test('a difference is explained by what arrived and what left, each with its proposal', async () => {
  const arrived = landed({ [account]: 70n })
  const payout = landed({ [account]: -20n }, { memo: '[24] tollbook-payout:payout_a:7' })
  const stolen = landed({ [former]: -5n }, { memo: 'thanks' })
  const transactions = [arrived, payout, stolen]
  const { reconcile: run } = open(transactions)
  expect(await run()).toMatchObject({
    chainBaseUnits: '45',
    ledgerBaseUnits: '0',
    differenceBaseUnits: '45',
    remainderBaseUnits: '0',
    searched: 3,
    transfers: [
      { signature: arrived.signature, baseUnits: '70', wallet: payer, blockTime: '1970-01-01T00:00:00.000Z' },
      {
        signature: payout.signature,
        baseUnits: '-20',
        wallet: null,
        proposal: expect.stringContaining('payout record'),
      },
      { signature: stolen.signature, baseUnits: '-5', wallet: null, proposal: expect.stringContaining('Find out') },
    ],
  })
  const { transfers } = await run()
  expect(transfers[0]?.proposal).toContain(`tollbook refund record ${arrived.signature}`)
})

test('what the ledger has, what failed and what only moved between two wallets is not listed', async () => {
  const recorded = landed({ [account]: 100n })
  const failed = landed({ [account]: 9n }, { hasFailed: true })
  const between = landed({ [account]: -30n, [former]: 30n })
  const lost = landed({ [account]: 1n })
  const { reconcile: run, found } = open([failed, between, recorded, lost], {
    recorded: [recorded],
    ledgerBaseUnits: 100n,
  })
  expect(await run()).toMatchObject({
    differenceBaseUnits: '1',
    remainderBaseUnits: '0',
    transfers: [{ baseUnits: '1' }],
  })
  expect(found).not.toContain(recorded.signature)
  expect(found).not.toContain(failed.signature)
})

test('nothing is searched without a difference, and no further page once it is explained', async () => {
  const recorded = Array.from({ length: listedMax }, () => landed({ [account]: 1n }))
  const equal = open(recorded, { recorded, ledgerBaseUnits: BigInt(listedMax) })
  expect(await equal.reconcile()).toMatchObject({ differenceBaseUnits: '0', searched: 0, transfers: [] })
  expect(equal.pages).toEqual([])
  const newest = landed({ [account]: 4n })
  const explained = open([newest, ...recorded], { recorded, ledgerBaseUnits: BigInt(listedMax) })
  expect(await explained.reconcile()).toMatchObject({ remainderBaseUnits: '0', searched: listedMax })
  const oldest = landed({ [account]: 4n })
  const behind = open([...recorded, oldest], { recorded, ledgerBaseUnits: BigInt(listedMax) })
  expect(await behind.reconcile()).toMatchObject({
    remainderBaseUnits: '0',
    transfers: [{ signature: oldest.signature }],
  })
  expect(behind.pages).toEqual([undefined, recorded.at(-1)?.signature])
})

test('a mint without a wallet on record is refused by its name', async () => {
  const { reconcile: run } = open([])
  await expect(run()).resolves.toMatchObject({ differenceBaseUnits: '0' })
  const other = sampleAddress()
  const deps = { clock: systemClock, facts: {}, chain: {}, allTerms: () => [] } as unknown as ReconcileDeps
  await expect(reconcile(deps, other)).rejects.toThrow(other)
})
