import { expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Quote } from '@tollbook/core/quote'
import type { ListedSignature } from '../../../src/payment/finalityReader.ts'
import type { PaymentContent } from '../../../src/payment/paymentContent.ts'
import type { RecordOptions } from '../../../src/payment/paymentLedger.ts'
import { createWalletPayments, type WalletPaymentDeps } from '../../../src/rails/native/walletPayment.ts'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'
import { signatureNumber } from '../../jobs/jobFixture.ts'
import { mint, otherWallet, referenceNumber, settlementOf, wallet, terms } from '../../payment/paymentStory.ts'

const price = { ...settlementOf(referenceNumber(1)).price, priceList: 1 }
const bytes = Buffer.alloc(32, 5)
const digest = bytes.toString('base64url')
const memo = `tollbook:${digest}`
const product = { path: price.endpoint, method: 'POST' } as const
const listedBy = (number: number, changes: Partial<ListedSignature> = {}): ListedSignature => {
  return { signature: signatureNumber(number), slot: number, blockTimeMs: 0, hasFailed: false, memo, ...changes }
}

interface Script {
  readonly listed?: readonly ListedSignature[]
  readonly baseUnits?: bigint
  readonly lamports?: bigint
  readonly isPriced?: boolean
}

function open({ listed = [], baseUnits = 5_000_000n, lamports = 10_000_000n, isPriced = true }: Script = {}) {
  const quotes: [Quote, RecordOptions | undefined][] = []
  const built: PaymentContent[] = []
  const asked: object[] = []
  const deps: WalletPaymentDeps = {
    ledger: { recordQuote: async (quote, options) => void quotes.push([quote, options]) },
    terms,
    split: defaultSplit,
    token: { symbol: 'TOLL' },
    slot: () => 7,
    sales: {
      currentPrice: () => (isPriced ? price : undefined),
      openOffer: (question) => ({ id: 'quote_1', ...question, issuedAtMs: 1, expiresAtMs: 2 }),
    },
    chain: {
      find: async (signature) => {
        const record = { signature, slot: 1, blockTimeMs: 0, failure: undefined, signers: [wallet, otherWallet] }
        const rest = { movements: [], balances: [], memos: [memo], bytes: undefined }
        return { kind: 'found', record: { ...record, ...rest }, slot: 1, nodes: 1, isAgreed: true }
      },
    },
    finality: {
      async listSignatures(question) {
        asked.push(question)
        return listed
      },
    },
    blockhash: async () => 'hash',
    readFunds: async () => ({ baseUnits, lamports }),
    buildTransaction: (content) => {
      built.push(content)
      return new Uint8Array([9])
    },
  }
  const payments = createWalletPayments(deps)
  const prepare = async (changes: object = {}) => {
    const prepared = await payments.prepare({ product, account: wallet, digest, ...changes })
    return isRefusal(prepared) ? prepared.code : prepared
  }
  return { prepare, find: payments.find, quotes, built, asked }
}

test('a prepared payment burns and transfers the price, under the memo and the reference of its secret', async () => {
  const { prepare, quotes, built } = open()
  expect(await prepare()).toEqual({ transaction: new Uint8Array([9]), price })
  const reference = encodeBase58(bytes)
  const amounts = { burnBaseUnits: 1_500_000n, transferBaseUnits: 3_500_000n }
  expect(built).toEqual([{ terms, payer: wallet, memo, reference, ...amounts, blockhash: 'hash' }])
  expect(quotes).toMatchObject([[{ wallet, memo, slot: 7, id: 'quote_1' }, { sharesMemo: true }]])
})

test.each<[string, Script, object, string]>([
  ['one token unit too few', { baseUnits: 4_999_999n }, {}, 'INSUFFICIENT_BALANCE'],
  ['too little SOL', { lamports: 4_999n }, {}, 'INSUFFICIENT_BALANCE'],
  ['no price', { isPriced: false }, {}, 'ENDPOINT_UNAVAILABLE'],
  ['another digest', {}, { digest: digest.slice(1) }, 'NO_DATA'],
  ['the mint as its account', {}, { account: mint }, 'INVALID_REQUEST'],
])('with %s nothing is prepared, and no quote is stored', async (_, script, changes, code) => {
  const { prepare, quotes, built } = open(script)
  expect([await prepare(changes), quotes, built]).toEqual([code, [], []])
})

test('the first landed transaction with the memo is the payment, and its first signer the wallet', async () => {
  const newestFirst = [
    listedBy(5),
    listedBy(4),
    listedBy(3, { memo: `[52] ${memo}` }),
    listedBy(2, { hasFailed: true }),
    listedBy(1, { memo: 'tollbook:other' }),
  ]
  const { find, asked } = open({ listed: newestFirst })
  expect(await find(digest)).toEqual({ signature: signatureNumber(3), wallet })
  expect(asked).toMatchObject([{ account: encodeBase58(bytes), commitment: 'confirmed' }])
  expect(await open().find(digest)).toBeUndefined()
  const invalid = open({ listed: newestFirst })
  expect([await invalid.find('short'), invalid.asked]).toEqual([undefined, []])
})
