import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Address, readAddress } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { type Refusal, isRefusal } from '@tollbook/core/refusal'
import { paysAsSettled, type ProvenAmounts, type PaymentTerms, settle } from '../../src/payment/settlement.ts'
import { readSignature } from '@tollbook/core/signature'
import type { TokenBalance, TokenMovement, TransactionRecord } from '../../src/payment/transactionRecord.ts'
import { splTokenProgram, token2022Program } from '@tollbook/core/programs'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { settlementOf } from './paymentStory.ts'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import { assertPresent, Bug } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'

/*
 * `settle` on records that no chain has to have made: what a lying node or a bug of the parser might hand to it, too.
 */

function address(byte: number): Address {
  return assertPresent(readAddress(encodeBase58(Buffer.alloc(32, byte))), '32 bytes are an address')
}

const wallet = address(1)
const stranger = address(2)
const mint = address(3)
const otherMint = address(4)
const paymentWallet = address(5)
const paymentTokenAccount = address(6)
const walletAccount = address(7)
const strangerAccount = address(8)
const program = assertPresent(readAddress(token2022Program), 'a program has an address')
const otherProgram = assertPresent(readAddress(splTokenProgram), 'a program has an address')
const signature = assertPresent(readSignature(encodeBase58(Buffer.alloc(64, 9))), '64 bytes are a signature')

const terms: PaymentTerms = {
  mint,
  decimals: 6,
  tokenProgram: program,
  paymentWallet,
  paymentTokenAccount,
  network: 'solana:test',
}

function priceOf(requiredBaseUnits: bigint): Price {
  const market = { endpoint: '/api/data/weather', priceMicroUsd: 1n, tokenPriceAttoUsd: 1n }
  return { ...market, mint, decimals: 6, requiredBaseUnits, ...split(requiredBaseUnits, defaultSplit) }
}

const base = { tokenProgram: program, mint, authority: wallet }

function burnOf(amountBaseUnits: bigint): TokenMovement {
  return { ...base, kind: 'burn', source: walletAccount, amountBaseUnits }
}

function transferOf(amountBaseUnits: bigint): TokenMovement {
  return { ...base, kind: 'transfer', source: walletAccount, destination: paymentTokenAccount, amountBaseUnits }
}

const opening = 1n << 62n

/** Balances after all of these movements have happened. */
function balancesAfter(movements: readonly TokenMovement[]): readonly TokenBalance[] {
  const accounts = [
    { tokenAccount: walletAccount, ownersSeen: [wallet] },
    { tokenAccount: strangerAccount, ownersSeen: [stranger] },
    { tokenAccount: paymentTokenAccount, ownersSeen: [paymentWallet] },
  ]
  return accounts.map((account) => {
    const net = movements
      .filter((movement) => movement.mint === mint)
      .reduce((sum, movement) => sum + netOn(account.tokenAccount, movement), 0n)
    return { ...account, mint, beforeBaseUnits: opening, afterBaseUnits: opening + net }
  })
}

function netOn(account: Address, movement: TokenMovement): bigint {
  const out = movement.kind !== 'mintTo' && movement.source === account ? movement.amountBaseUnits : 0n
  const into = movement.kind !== 'burn' && movement.destination === account ? movement.amountBaseUnits : 0n
  return into - out
}

function recordOf(movements: readonly TokenMovement[], changes: Partial<TransactionRecord> = {}): TransactionRecord {
  return {
    signature,
    slot: 1,
    blockTimeMs: 0,
    failure: undefined,
    signers: [wallet],
    movements,
    balances: balancesAfter(movements),
    memos: [],
    bytes: undefined,
    ...changes,
  }
}

function judge(record: TransactionRecord, price: Price): ProvenAmounts | Refusal {
  return settle({ record, wallet, price, terms })
}

function verdictOf(judged: ProvenAmounts | Refusal): string {
  return isRefusal(judged) ? (judged.reason ?? judged.code) : 'accepted'
}

const amounts = fc.bigInt({ min: 0n, max: 2_000n })
const required = fc.bigInt({ min: 1n, max: 600n })
const anybody = fc.constantFrom(wallet, stranger, paymentWallet)
const anyAccount = fc.constantFrom(walletAccount, strangerAccount, paymentTokenAccount)
const anyMint = fc.constantFrom(mint, mint, mint, otherMint)
const anyProgram = fc.constantFrom(program, program, program, otherProgram)
const parts = { tokenProgram: anyProgram, mint: anyMint, authority: anybody, amountBaseUnits: amounts }

const burns = fc.record({ ...parts, kind: fc.constant('burn' as const), source: anyAccount })
const transfers = fc.record({
  ...parts,
  kind: fc.constant('transfer' as const),
  source: anyAccount,
  destination: anyAccount,
})
const mintings = fc.record({ ...parts, kind: fc.constant('mintTo' as const), destination: anyAccount })
const payments = fc.oneof(amounts.map(burnOf), amounts.map(transferOf))
const anyMovement = fc.oneof({ weight: 6, arbitrary: payments }, burns, transfers, { weight: 1, arbitrary: mintings })
const someMovements = fc.array(anyMovement, { maxLength: 8 })

const lyingBalance: fc.Arbitrary<TokenBalance> = fc.record({
  tokenAccount: anyAccount,
  mint: anyMint,
  ownersSeen: fc.uniqueArray(anybody, { maxLength: 2 }),
  beforeBaseUnits: amounts,
  afterBaseUnits: amounts,
})

/** True balances mostly; now and then those of a node that lies. */
const anyRecord = fc
  .record({
    movements: someMovements,
    lies: fc.option(fc.array(lyingBalance, { maxLength: 4 }), { freq: 3, nil: undefined }),
    signers: fc.constantFrom([wallet], [wallet], [stranger, wallet], [stranger]),
  })
  .map(({ movements, lies, signers }) =>
    recordOf(movements, { signers, ...(lies === undefined ? {} : { balances: lies }) }),
  )

function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, each) => total + each, 0n)
}

/** The wallet's own movements, by a reading of rule 2 that shares nothing with the code. */
function walletsOwn({ movements, balances }: TransactionRecord, kind: 'burn' | 'transfer'): readonly TokenMovement[] {
  return movements.filter((movement) => {
    if (movement.kind !== kind) return false
    const ofSource = balances.filter((each) => each.tokenAccount === movement.source)
    const owners = new Set(ofSource.flatMap((each) => each.ownersSeen))
    const right = movement.mint === mint && movement.tokenProgram === program && movement.authority === wallet
    return right && owners.has(wallet) && owners.size === 1
  })
}

test('nothing is accepted that burned or delivered less than the price, whatever else happened (I12)', () => {
  fc.assert(
    fc.property(anyRecord, required, (record, requiredBaseUnits) => {
      const price = priceOf(requiredBaseUnits)
      const judged = judge(record, price)
      if (isRefusal(judged)) return
      const ofMint = record.balances.filter((balance) => balance.mint === mint)
      const burned = sum(walletsOwn(record, 'burn').map((each) => each.amountBaseUnits))
      const sent = walletsOwn(record, 'transfer').flatMap((each) =>
        each.kind === 'transfer' && each.destination === paymentTokenAccount ? each.amountBaseUnits : [],
      )
      const arrived = ofMint
        .filter((balance) => balance.tokenAccount === paymentTokenAccount)
        .filter((balance) => !balance.ownersSeen.includes(wallet) && !balance.ownersSeen.includes(stranger))
        .map((balance) => balance.afterBaseUnits - balance.beforeBaseUnits)

      expect(record.signers).toContain(wallet)
      expect(burned).toBeGreaterThanOrEqual(price.burnBaseUnits)
      expect(judged.burnedBaseUnits).toBe(burned)
      expect(sum(sent)).toBeGreaterThanOrEqual(requiredBaseUnits - price.burnBaseUnits)
      expect(sum(arrived)).toBeGreaterThanOrEqual(requiredBaseUnits - price.burnBaseUnits)
      expect(judged.receivedBaseUnits, 'everything that arrived is recorded').toBe(sum(arrived))
      expect(sum(ofMint.map((balance) => balance.beforeBaseUnits - balance.afterBaseUnits))).toBeGreaterThanOrEqual(
        burned,
      )
      expect(record.movements.filter((each) => each.kind === 'mintTo' && each.mint === mint)).toEqual([])
    }),
    { numRuns: 5_000 },
  )
})

test('a payment that is exact is accepted at every price, and one base unit less of either part is not', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 1n << 60n }), (requiredBaseUnits) => {
      const price = priceOf(requiredBaseUnits)
      const [burn, send] = [price.burnBaseUnits, requiredBaseUnits - price.burnBaseUnits]
      const exact = verdictOf(judge(recordOf([burnOf(burn), transferOf(send)]), price))

      expect(exact).toBe('accepted')
      expect(verdictOf(judge(recordOf([burnOf(burn - 1n), transferOf(send + 1n)]), price))).toBe('burn_insufficient')
      if (send === 0n) return
      expect(verdictOf(judge(recordOf([burnOf(burn + 1n), transferOf(send - 1n)]), price))).toBe(
        'transfer_insufficient',
      )
    }),
  )
})

test("movements that are not the wallet's own never make up for what the wallet left out", () => {
  const foreign = anyMovement.filter((movement) => movement.authority !== wallet)
  fc.assert(
    fc.property(
      fc.array(payments, { maxLength: 5 }),
      fc.array(foreign, { maxLength: 6 }),
      required,
      (own, others, base) => {
        const price = priceOf(base)
        const alone = verdictOf(judge(recordOf(own), price))
        fc.pre(alone !== 'accepted')

        expect(verdictOf(judge(recordOf([...own, ...others]), price))).not.toBe('accepted')
      },
    ),
    { numRuns: 3_000 },
  )
})

test('the order of the movements and of the balances does not matter', () => {
  const shuffled = anyRecord.chain((record) =>
    fc
      .tuple(shuffle(record.movements), shuffle(record.balances))
      .map(([movements, balances]) => ({ record, other: { ...record, movements, balances } })),
  )
  fc.assert(
    fc.property(shuffled, required, ({ record, other }, requiredBaseUnits) => {
      const price = priceOf(requiredBaseUnits)
      expect(verdictOf(judge(other, price))).toBe(verdictOf(judge(record, price)))
    }),
  )
})

function shuffle<T>(list: readonly T[]): fc.Arbitrary<readonly T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length })
}

test('what does not pay a price does not pay a higher one', () => {
  fc.assert(
    fc.property(anyRecord, required, required, (record, one, more) => {
      if (verdictOf(judge(record, priceOf(one))) === 'accepted') return
      expect(verdictOf(judge(record, priceOf(one + more)))).not.toBe('accepted')
    }),
  )
})

const price = priceOf(101n)
const good = recordOf([burnOf(31n), transferOf(70n)])

test('2c an account without a shown owner does not count', () => {
  const balances = good.balances.filter(({ tokenAccount }) => tokenAccount !== walletAccount)

  expect(verdictOf(judge({ ...good, balances }, price))).toBe('burn_insufficient')
})

test('3f a burn and a transfer of the right mint by the other token program count for nothing', () => {
  const foreign = good.movements.map((movement) => ({ ...movement, tokenProgram: otherProgram }))

  expect(verdictOf(judge({ ...good, movements: foreign }, price))).toBe('burn_insufficient')
})

test('3g a burn that the balances do not show is not believed', () => {
  const unmoved = good.balances.map((balance) =>
    balance.tokenAccount === walletAccount ? { ...balance, afterBaseUnits: balance.beforeBaseUnits - 70n } : balance,
  )

  expect(verdictOf(judge({ ...good, balances: unmoved }, price))).toBe('burn_not_conserved')
})

test('3g one base unit of the burn that the balances do not show is enough for a refusal', () => {
  const short = good.balances.map((balance) =>
    balance.tokenAccount === walletAccount ? { ...balance, afterBaseUnits: balance.afterBaseUnits + 1n } : balance,
  )

  expect(verdictOf(judge({ ...good, balances: short }, price))).toBe('burn_not_conserved')
})

test("4d tokens in the payment account do not count when it is not the payment wallet's any more", () => {
  const balances = good.balances.map((balance) =>
    balance.tokenAccount === paymentTokenAccount ? { ...balance, ownersSeen: [paymentWallet, stranger] } : balance,
  )

  expect(verdictOf(judge({ ...good, balances }, price))).toBe('transfer_insufficient')
})

test('4d a balance of another mint in the payment account does not count', () => {
  const balances = good.balances.map((balance) =>
    balance.tokenAccount === paymentTokenAccount ? { ...balance, mint: otherMint } : balance,
  )

  expect(verdictOf(judge({ ...good, balances }, price))).toBe('transfer_insufficient')
})

test('a price in another mint than the one that is taken is a bug, not a verdict', () => {
  expect(() => judge(good, { ...price, mint: otherMint })).toThrow(Bug)
})

test('a payment that landed again is as settled only if it pays the same amounts to one of the wallets', () => {
  const settled = settlementOf(transactionReference(signature), {
    wallet,
    price,
    burnedBaseUnits: 31n,
    receivedBaseUnits: 70n,
  })
  const former = { ...terms, paymentWallet: stranger, paymentTokenAccount: strangerAccount }
  const dollar = { ...terms, mint: otherMint }
  const isSettled = (burned: bigint, sent: bigint, allTerms: readonly PaymentTerms[] = [dollar, former, terms]) =>
    paysAsSettled(recordOf([burnOf(burned), transferOf(sent)]), settled, allTerms)

  expect(isSettled(31n, 70n)).toBe(true)
  expect(isSettled(31n, 70n, [former])).toBe(false)
  expect([isSettled(31n, 71n), isSettled(31n, 69n), isSettled(32n, 70n), isSettled(30n, 70n)]).toEqual(
    Array(4).fill(false),
  )
})
