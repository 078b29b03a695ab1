import { systemClock } from '@tollbook/core/clock'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { silentLog } from '../../src/machine/log.ts'
import { readVerifierKey, type VerifierKey } from '@tollbook/audit/checkpointNote'
import { assertPresent } from '@tollbook/core/assert'
import { signCheckpoint, verifierKeyText } from '@tollbook/core/checkpoint'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { decideBreak, decideStart } from '../../src/payment/attempt.ts'
import { decideFinality, decideRefund } from '../../src/payment/finality.ts'
import { type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import { readAddress } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { type Ledger, openLedger } from '../../src/store/openLedger.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { newestCheckpoint } from '../../src/store/sealStore.ts'
import { claimOf, fulfilmentOf, releaseOf, sampleAddress, samplePrice, sampleQuote } from '../store/samplePayment.ts'
import {
  type Answered,
  append,
  burnOwed,
  continueAfterAnswers,
  decide,
  finalized,
  payOut,
  receiveUnmatched,
} from './afterAnswer.ts'
import { recordTabs, tabMetered, tabPrices } from '../reports/recordTabs.ts'
import { sellInDollars } from './dollarSales.ts'
import { makeWallet, signedSettlement } from './signedPayment.ts'

/* A real ledger for an auditor, written by the one write path and sealed as it grew. */

const ledgerOrigin = 'tollbook/audited'
const ledgerSigner = ed25519Signer(makeReceiptKey())
export const ledgerKeyText = verifierKeyText({ name: ledgerOrigin, publicKey: ledgerSigner.publicKey })
export const ledgerKey: VerifierKey = assertPresent(readVerifierKey(ledgerKeyText), 'the key is a verifier key')

// At token prices that divide evenly and that do not, and in two mints.
const prices = [
  priced('/api/data/weather', 10_000n, 10n ** 15n),
  priced('/api/data/crypto', 20_000n, 3n * 10n ** 15n),
  priced('/api/tools/pdf', 80_000n, 7n * 10n ** 15n),
  { ...priced('/api/data/news', 25_000n, 2n * 10n ** 15n), mint: sampleAddress() },
]
const wallet = makeWallet()
const address = assertPresent(readAddress(wallet.address), 'a public key is an address')

function priced(endpoint: string, priceMicroUsd: bigint, tokenPriceAttoUsd: bigint): Price {
  // With 6 decimals the powers of ten of dollars and tokens leave 10^18.
  const required = (priceMicroUsd * 10n ** 18n + tokenPriceAttoUsd - 1n) / tokenPriceAttoUsd
  return { ...samplePrice(endpoint, required), priceMicroUsd, tokenPriceAttoUsd }
}

export interface LedgerGrowth {
  readonly serviceUrl: string
  readonly payments: number
  /** Publishes the price list and the settings first: once for a ledger. */
  readonly isNew: boolean
  /** The superuser's, to pay and burn some of what is owed in other roles. Undefined: nothing is paid out. */
  readonly adminUrl?: string
}

/** Payments of every kind, the same mixture each time; returns the signed note of the newest checkpoint. */
export async function growLedger({ serviceUrl, payments, isNew, adminUrl }: LedgerGrowth): Promise<string> {
  const ledger = await openLedger({
    databaseUrl: serviceUrl,
    applicationName: 'audited ledger',
    clock: systemClock,
    log: silentLog,
  })
  try {
    if (isNew) {
      const list = { split: defaultSplit, prices: [...prices, ...tabPrices], metered: tabMetered }
      await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', ...list })
      await ledger.settings.record([{ name: 'origin', value: ledgerOrigin }])
    }
    const answered: Answered[] = []
    for (let index = 0; index < payments; index++) {
      answered.push(await pay(ledger, index))
      // Sealed now and then, so that there are checkpoints of many sizes.
      if (index % 7 === 6) await sealLedger(ledger)
    }
    await continueAfterAnswers(ledger, answered)
    await refundWhole(ledger, refundedWhole)
    await receiveUnmatched(ledger, address)
    await recordTabs(ledger, { payer: wallet, origin: ledgerOrigin })
    await sellInDollars(ledger, wallet, { tokenPrices: prices, origin: ledgerOrigin })
    if (adminUrl !== undefined) {
      await payOut(adminUrl, address)
      if (isNew) await burnOwed(adminUrl, wallet)
    }
    await sealLedger(ledger)
    while ((await rollUp(ledger.database, eventsPerRollUp)) > 0);
    return assertPresent(await newestCheckpoint(ledger.database), 'the ledger has been sealed').note
  } finally {
    await ledger.close()
  }
}

// Small, so that most payments are rolled up in several steps.
const eventsPerRollUp = 50

async function sealLedger({ database, election }: Ledger): Promise<void> {
  const sign = (tree: { size: number; root: Uint8Array }) =>
    signCheckpoint({ origin: ledgerOrigin, ...tree }, ledgerSigner)
  while ((await sealNext({ database, election, sign })).sealedEvents > 0);
}

async function pay(ledger: Ledger, index: number): Promise<Answered> {
  const settlement = await settle(ledger, index)
  let before = index % 6 === 0 ? await submit(ledger, settlement) : unknownPayment
  for (let failure = 0; failure < index % 3; failure++) {
    before = await fail(ledger, settlement, { before, index })
  }
  const { reference } = settlement
  if (index % 11 === 10) return { reference, state: before }
  // Every other claim that is not served to the end has a lease that ends at once.
  const claim = claimOf(settlement, { before, ...(index % 26 === 12 ? { leaseMs: 1 } : {}) })
  before = await append(ledger, claim.change)
  if (index % 13 === 12) return { reference, state: before }
  const { attemptId } = claim
  if (index % 4 === 3) before = await decide(ledger, { reference, before }, decideStart(before, attemptId))
  return { reference, state: await append(ledger, fulfilmentOf(settlement, { before, attemptId })) }
}

/** The whole price was paid, and nothing delivered. */
const refundedWhole = 12

async function refundWhole(ledger: Ledger, index: number): Promise<void> {
  const settlement = await settle(ledger, index)
  const { reference } = settlement
  const released = await fail(ledger, settlement, { before: unknownPayment, index })
  const final = await decide(ledger, { reference, before: released }, decideFinality(released, finalized))
  await decide(ledger, { reference, before: final }, decideRefund(final))
}

async function settle(ledger: Ledger, index: number): Promise<Settlement> {
  const price = prices[index % prices.length] ?? samplePrice()
  const quote = sampleQuote({ ...price, wallet: address, priceList: 1 })
  if (index % 2 === 0) await ledger.payments.recordQuote(quote)
  // Some payers send the whole price, and the service owes the burn.
  const isBurnOwed = index % 5 === 2
  const due = isBurnOwed ? price.requiredBaseUnits : price.requiredBaseUnits - price.burnBaseUnits
  return signedSettlement(wallet, {
    price,
    quoteId: index % 2 === 0 ? quote.id : undefined,
    memo: index % 4 === 0 ? quote.memo : undefined,
    burnedBaseUnits: isBurnOwed ? 0n : price.burnBaseUnits,
    receivedBaseUnits: index % 5 === 0 ? due + 11n : due,
    blockTimeMs: Math.floor(systemClock.nowMs() / 1000) * 1000 - ageHours(index) * 3_600_000,
  })
}

/** One payment is of a month that is closed. */
function ageHours(index: number): number {
  return index === 9 ? 60 * 24 : index % 50
}

interface Claiming {
  readonly before: PaymentState
  readonly index: number
}

async function fail(ledger: Ledger, settlement: Settlement, { before, index }: Claiming): Promise<PaymentState> {
  const { reference } = settlement
  const { attemptId, change } = claimOf(settlement, { before })
  const claimed = await append(ledger, change)
  if (index % 8 !== 7) return append(ledger, releaseOf(settlement, { before: claimed, attemptId }))
  const started = await decide(ledger, { reference, before: claimed }, decideStart(claimed, attemptId))
  const broken = decideBreak(started, { attemptId, bytes: 12, digest: 'ef'.repeat(32), attemptsMax: 10 })
  return decide(ledger, { reference, before: started }, broken)
}

function submit(ledger: Ledger, { reference, wallet, price, evidence }: Settlement): Promise<PaymentState> {
  const transactionBase64 = evidence.transactionBase64 ?? ''
  const intent = { wallet, endpoint: price.endpoint, quoteId: undefined, transactionBase64 }
  return decide(ledger, { reference, before: unknownPayment }, decideSubmit(unknownPayment, intent))
}
