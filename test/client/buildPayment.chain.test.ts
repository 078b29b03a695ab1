import { addressOf, mustFind } from '../chain/chainFixture.ts'
import {
  ACCOUNT_SIZE,
  createEnableRequiredMemoTransfersInstruction,
  createReallocateInstruction,
  ExtensionType,
  getAccount,
  getAccountLen,
  getMint,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, sendAndConfirmTransaction, SystemProgram, Transaction, VersionedTransaction } from '@solana/web3.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildPaymentTransaction } from '../../src/chain/paymentTransaction.ts'
import { type Chain, openChain } from '../../src/chain/openChain.ts'
import { buildPayment, type SignedPayment } from '@tollbook/client/buildPayment'
import { checkQuote } from '@tollbook/client/checkQuote'
import type { ProofForm } from '@tollbook/client/encodeProof'
import { giveFunds } from '../../src/cli/local/giveFunds.ts'
import { InsufficientFunds } from '@tollbook/client/insufficientFunds'
import { landTransaction } from '@tollbook/client/landTransaction'
import { connectPayerChain, type PayerChain } from '@tollbook/client/payerChain'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { type PaymentPlan, planPayment } from '@tollbook/client/planPayment'
import { requireFunds } from '@tollbook/client/requireFunds'
import { postJson } from '../../src/outbound/postJson.ts'
import { formatDecimal } from '@tollbook/core/money'
import { isRefusal } from '@tollbook/core/refusal'
import { settle } from '../../src/payment/settlement.ts'
import { sentForArrival } from '@tollbook/core/transferFee'
import { assertPresent } from '@tollbook/core/assert'
import { silentLog } from '../../src/machine/log.ts'
import { impatientClock } from './support/impatientClock.ts'
import { makeQuote } from './support/testToken.ts'
import { openTokenChain, type TokenChain, type TokenKind } from './support/tokenChain.ts'

const endpoint = '/api/data/crypto'

const kinds: [string, TokenKind][] = [
  ['an SPL Token mint', { program: TOKEN_PROGRAM_ID }],
  ['a Token-2022 mint', { program: TOKEN_2022_PROGRAM_ID }],
  ['a Token-2022 mint with a transfer fee', { program: TOKEN_2022_PROGRAM_ID, feeBasisPoints: 137 }],
  [
    'a Token-2022 mint with a transfer fee that is capped',
    { program: TOKEN_2022_PROGRAM_ID, feeBasisPoints: 5_000, maximumFeeBaseUnits: 777n },
  ],
]

async function requireMemos({ connection, mintAuthority, paymentKeypair, paymentTokenAccount, program }: TokenChain) {
  const owner = paymentKeypair.publicKey
  const extensions = [ExtensionType.MemoTransfer]
  const transaction = new Transaction().add(
    createReallocateInstruction(paymentTokenAccount, mintAuthority.publicKey, extensions, owner, [], program),
    createEnableRequiredMemoTransfersInstruction(paymentTokenAccount, owner, [], program),
  )
  await sendAndConfirmTransaction(connection, transaction, [mintAuthority, paymentKeypair])
}

describe.each(kinds)('a payment in %s', (_name, kind) => {
  let token: TokenChain
  let server: Chain
  let payerChain: PayerChain

  beforeAll(async () => {
    token = await openTokenChain(kind)
    const rpcUrls = [token.chain.rpcUrl]
    const addresses = { tokenMint: token.mint.toBase58(), paymentWallet: token.paymentWallet.toBase58() }
    server = await openChain({ rpcUrls, ...addresses, postJson, log: silentLog, commitment: 'confirmed' })
    payerChain = connectPayerChain({ rpcUrl: token.chain.rpcUrl, fetch })
  })

  /** An offer of the server that reads its terms from this chain. */
  async function plan(): Promise<PaymentPlan> {
    const { mint, network, tokenProgram, paymentWallet, paymentTokenAccount } = server.terms
    const transferFee = server.terms.transferFee?.()
    const honest = makeQuote({ endpoint, nowMs: Date.now() })
    const fee =
      transferFee === undefined
        ? {}
        : { transferWithFeeBaseUnits: sentForArrival(BigInt(honest.quote.transferBaseUnits), transferFee).toString() }
    const addresses = { tokenMint: mint, network, tokenProgram, paymentWallet, paymentTokenAccount }
    const body = { ...honest, ...addresses, quote: { ...honest.quote, ...fee } }
    const offer = { body, answeredAtMs: Date.now() }
    const quote = checkQuote({ offer, request: { content: { url: `https://pay.example${endpoint}` } }, pins: {} })
    if ('problem' in quote) throw new Error(quote.message)
    const plan = planPayment(quote, await payerChain.readToken(quote))
    if ('problem' in plan) throw new Error(plan.message)
    return plan
  }

  async function land(plan: PaymentPlan, form: ProofForm): Promise<SignedPayment> {
    const payment = await buildPayment({ chain: payerChain, wallet: keypairWallet(token.payer) }, plan, form)
    const deps = { chain: payerChain, clock: impatientClock, signal: new AbortController().signal }
    expect(await landTransaction(deps, { ...payment, sentBefore: false })).toEqual({ outcome: 'confirmed' })
    return payment
  }

  test('is signed for exactly the balances with which the network takes it', async () => {
    const creating = await plan()
    const existing = { ...creating, createsTokenAccount: false }
    const rentLamports = await token.connection.getMinimumBalanceForRentExemption(accountBytes(kind))
    const needed = 5_000 + rentLamports
    const enough = creating.cost.baseUnits
    const cases = [
      ...[needed - 1, needed, needed + 1, needed + 890_879, needed + 890_880].map((lamports) => ({
        payable: creating,
        lamports,
        baseUnits: enough,
      })),
      { payable: creating, lamports: 10_000_000, baseUnits: enough - 1n },
      { payable: existing, lamports: 0, baseUnits: enough },
    ]
    for (const { payable, lamports, baseUnits } of cases) {
      const payer = Keypair.generate()
      await fundExactly(token, payer, { lamports, baseUnits })
      const wallet = keypairWallet(payer)
      const shortage = await requireFunds({ chain: payerChain, wallet }, payable).catch((error: unknown) => error)
      const { transaction } = await buildPayment({ chain: payerChain, wallet }, payable, 'bound')
      const rehearsed = await token.connection.simulateTransaction(VersionedTransaction.deserialize(transaction), {
        sigVerify: true,
      })
      expect([lamports, shortage instanceof InsufficientFunds]).toEqual([lamports, rehearsed.value.err !== null])
    }
  })

  test('creates the payment account the first time, lands, and is what the server verifies', async () => {
    const supplyBefore = (await getMint(token.connection, token.mint, 'confirmed', token.program)).supply
    const first = await plan()
    expect(first.createsTokenAccount).toBe(true)
    const payment = await land(first, 'bound')

    const record = await mustFind(server.reader, payment.signature)
    const { quote } = first
    const price = { ...priceOf(quote.requiredBaseUnits, quote.burnBaseUnits), mint: server.terms.mint }
    const wallet = assertPresent(record.signers[0], 'the payer signed')
    const evidence = settle({ record, wallet, price, terms: server.terms })
    if (isRefusal(evidence)) throw new Error(evidence.message)
    expect(evidence.burnedBaseUnits).toBe(quote.burnBaseUnits)
    expect(evidence.receivedBaseUnits >= quote.transferBaseUnits).toBe(true)
    expect(record.memos).toEqual([quote.memo])

    const { supply } = await getMint(token.connection, token.mint, 'confirmed', token.program)
    expect(supplyBefore - supply).toBe(quote.burnBaseUnits)
    const account = await getAccount(token.connection, token.paymentTokenAccount, 'confirmed', token.program)
    expect(account.amount >= quote.transferBaseUnits).toBe(true)
    expect(first.sentBaseUnits - account.amount).toBe(feeWithheld(kind, first))
  })

  test('leaves the account alone when it is there, and its memo is a nonce in the plain forms', async () => {
    const [one, two] = [await plan(), await plan()]
    expect([one.createsTokenAccount, two.createsTokenAccount]).toEqual([false, false])
    const payments = [await land(one, 'signature'), await land(two, 'transaction')]
    const memos = await Promise.all(
      payments.map(async ({ signature }) => (await mustFind(server.reader, signature)).memos),
    )
    for (const memo of memos.flat()) expect(memo).toMatch(/^nonce:/)
    expect(new Set(memos.flat()).size).toBe(2)
  })

  test('is taken by a payment account that requires a memo directly in front of each transfer', async () => {
    // The classic program has no such accounts.
    if (kind.program === TOKEN_2022_PROGRAM_ID) await requireMemos(token)
    const payable = await plan()
    await land(payable, 'bound')

    const { burnBaseUnits, sentBaseUnits } = { ...payable.quote, ...payable }
    const { blockhash } = await payerChain.latestBlockhash()
    const unsigned = buildPaymentTransaction({
      terms: server.terms,
      payer: addressOf(token.payer.publicKey),
      memo: payable.quote.memo,
      reference: addressOf(Keypair.generate().publicKey),
      burnBaseUnits,
      transferBaseUnits: sentBaseUnits,
      blockhash,
    })
    const transaction = VersionedTransaction.deserialize(unsigned)
    transaction.sign([token.payer])
    expect((await token.connection.simulateTransaction(transaction, { sigVerify: true })).value.err).toBe(null)
  })

  test('asks for the token again only where a fee could have changed in the meantime', async () => {
    await plan()
    token.chain.forgetRequestCounts()
    await plan()
    const isRead = (token.chain.requestCounts().get('getMultipleAccounts') ?? 0) > 0
    expect(isRead).toBe(kind.feeBasisPoints !== undefined)
  })

  test('is not taken by the node when the wallet has too few tokens', async () => {
    const dear = await plan()
    const { quote } = dear
    const tooMuch = { ...dear, quote: { ...quote, burnBaseUnits: 10n ** 12n } }
    const payment = await buildPayment({ chain: payerChain, wallet: keypairWallet(token.payer) }, tooMuch, 'signature')
    const deps = { chain: payerChain, clock: impatientClock, signal: new AbortController().signal }
    const landing = await landTransaction(deps, { ...payment, sentBefore: false })
    expect(landing).toMatchObject({ outcome: 'rejected' })
    expect(await payerChain.findStatus(payment.signature)).toBe('not_found')
  })
})

/** Associated accounts of Token-2022 are immutable, and keep withheld fees. */
function accountBytes({ program, feeBasisPoints }: TokenKind): number {
  if (program === TOKEN_PROGRAM_ID) return ACCOUNT_SIZE
  const withFee = feeBasisPoints === undefined ? [] : [ExtensionType.TransferFeeAmount]
  return getAccountLen([ExtensionType.ImmutableOwner, ...withFee])
}

async function fundExactly(
  { chain, connection, mint, mintAuthority }: TokenChain,
  { publicKey }: Keypair,
  { lamports, baseUnits }: { readonly lamports: number; readonly baseUnits: bigint },
) {
  const options = { rpcUrl: chain.rpcUrl, mint: mint.toBase58(), mintAuthority }
  const tokens = formatDecimal(baseUnits, 6)
  await giveFunds(options, { address: publicKey.toBase58(), tokens, sol: '0' })
  if (lamports === 0) return
  const give = SystemProgram.transfer({ fromPubkey: mintAuthority.publicKey, toPubkey: publicKey, lamports })
  await sendAndConfirmTransaction(connection, new Transaction().add(give), [mintAuthority])
}

function priceOf(requiredBaseUnits: bigint, burnBaseUnits: bigint) {
  return {
    endpoint,
    priceMicroUsd: 20_000n,
    tokenPriceAttoUsd: 10n ** 15n,
    decimals: 6,
    requiredBaseUnits,
    burnBaseUnits,
    shares: [{ account: 'provider', baseUnits: requiredBaseUnits - burnBaseUnits }],
  }
}

/** Computed here from the rule of the token program, and not with the code that the payer uses. */
function feeWithheld({ feeBasisPoints = 0, maximumFeeBaseUnits }: TokenKind, { sentBaseUnits }: PaymentPlan): bigint {
  const share = (sentBaseUnits * BigInt(feeBasisPoints) + 9_999n) / 10_000n
  return maximumFeeBaseUnits !== undefined && share > maximumFeeBaseUnits ? maximumFeeBaseUnits : share
}
