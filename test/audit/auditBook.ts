import { systemClock } from '@tollbook/core/clock'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { silentLog } from '../../src/primitives/log.ts'
import { readVerifierKey, type VerifierKey } from '@tollbook/audit/checkpointNote'
import { assertPresent } from '@tollbook/core/assert'
import { signCheckpoint, verifierKeyText } from '@tollbook/core/checkpoint'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { readAddress } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import type { Settlement } from '../../src/payment/settlement.ts'
import { type Ledger, openLedger } from '../../src/store/openLedger.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { newestCheckpoint } from '../../src/store/sealStore.ts'
import { claimOf, fulfilmentOf, releaseOf, samplePrice, sampleQuote } from '../store/samplePayment.ts'
import { type Answered, append, liveOn, payOut, receiveUnmatched } from './laterLives.ts'
import { makeWallet, signedSettlement } from './signedPayment.ts'

/* A real book for an auditor, written by the one write path and sealed as it grew. */

const bookOrigin = 'tollbook/audited'
const bookSigner = ed25519Signer(makeReceiptKey())
export const bookKeyText = verifierKeyText({ name: bookOrigin, publicKey: bookSigner.publicKey })
export const bookKey: VerifierKey = assertPresent(readVerifierKey(bookKeyText), 'the key of the book is a verifier key')

// At token prices that divide evenly and that do not.
const prices = [
  priced('/api/data/weather', 10_000n, 10n ** 15n),
  priced('/api/data/crypto', 20_000n, 3n * 10n ** 15n),
  priced('/api/tools/pdf', 80_000n, 7n * 10n ** 15n),
]
const wallet = makeWallet()
const address = assertPresent(readAddress(wallet.address), 'a public key is an address')

function priced(endpoint: string, priceMicroUsd: bigint, tokenPriceAttoUsd: bigint): Price {
  // With 6 decimals the powers of ten of dollars and tokens leave 10^18.
  const required = (priceMicroUsd * 10n ** 18n + tokenPriceAttoUsd - 1n) / tokenPriceAttoUsd
  return { ...samplePrice(endpoint, required), priceMicroUsd, tokenPriceAttoUsd }
}

export interface BookOptions {
  readonly serviceUrl: string
  readonly payments: number
  /** Publishes the price list first: once for a book. */
  readonly isNew: boolean
  /** The superuser's, to pay some of what is owed as the payer would. Undefined: nothing is paid out. */
  readonly adminUrl?: string
}

/** Payments of every kind, the same mixture each time; gives the signed note of the newest checkpoint. */
export async function growBook({ serviceUrl, payments, isNew, adminUrl }: BookOptions): Promise<string> {
  const ledger = await openLedger({
    databaseUrl: serviceUrl,
    applicationName: 'audit book',
    clock: systemClock,
    log: silentLog,
  })
  try {
    if (isNew) await ledger.publishPrices({ kind: 'PriceListPublished', source: 'fixed', prices })
    const lives: Answered[] = []
    for (let index = 0; index < payments; index++) {
      lives.push(await live(ledger, index))
      // Sealed now and then, so that there are checkpoints of many sizes.
      if (index % 7 === 6) await sealBook(ledger)
    }
    await liveOn(ledger, lives)
    await receiveUnmatched(ledger, address)
    if (adminUrl !== undefined) await payOut(adminUrl, address)
    await sealBook(ledger)
    return assertPresent(await newestCheckpoint(ledger.database), 'the book has been sealed').note
  } finally {
    await ledger.close()
  }
}

async function sealBook({ database }: Ledger): Promise<void> {
  const sign = (tree: { size: number; root: Uint8Array }) => signCheckpoint({ origin: bookOrigin, ...tree }, bookSigner)
  while ((await sealNext({ database, sign })).sealedEvents > 0);
}

async function live(ledger: Ledger, index: number): Promise<Answered> {
  const price = prices[index % prices.length] ?? samplePrice()
  const quote = sampleQuote({ ...price, wallet: address })
  if (index % 2 === 0) await ledger.payments.recordQuote(quote)
  const owed = price.requiredBaseUnits - price.burnBaseUnits
  const settlement = signedSettlement(wallet, {
    price,
    quoteId: index % 2 === 0 ? quote.id : undefined,
    memo: index % 4 === 0 ? quote.memo : undefined,
    receivedBaseUnits: index % 5 === 0 ? owed + 11n : owed,
    blockTimeMs: Math.floor(systemClock.nowMs() / 1000) * 1000 - (index % 50) * 3_600_000,
  })
  let before = index % 6 === 0 ? await submit(ledger, settlement) : unknownPayment
  for (let failure = 0; failure < index % 3; failure++) {
    const claim = claimOf(settlement, { before })
    before = await append(ledger, claim.change)
    before = await append(ledger, releaseOf(settlement, { before, attemptId: claim.attemptId }))
  }
  const { signature } = settlement
  if (index % 11 === 10) return { signature, state: before }
  const claim = claimOf(settlement, { before })
  before = await append(ledger, claim.change)
  if (index % 13 === 12) return { signature, state: before }
  return { signature, state: await append(ledger, fulfilmentOf(settlement, { before, attemptId: claim.attemptId })) }
}

function submit(
  ledger: Ledger,
  { signature, wallet, price, transactionBase64 = '' }: Settlement,
): Promise<PaymentState> {
  const intent = { kind: 'PaymentSubmitted', wallet, endpoint: price.endpoint, quoteId: undefined } as const
  const events = [{ ...intent, transactionBase64 }]
  return append(ledger, { signature, before: unknownPayment, events, nowMs: systemClock.nowMs() })
}
