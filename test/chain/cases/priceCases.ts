import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../../../src/payment/settlement.ts'
import { burnOf, memo, transferOf } from '../fixtureTokens.ts'
import { type Customer, gross, land, newCustomer, priceOf } from '../chainFixture.ts'
import {
  type Offer,
  type VerifierFixture,
  listRequiredBaseUnits,
  present,
  proofMaxAgeMs,
  quoteFor,
  quoteGraceMs,
  quoteTtlMs,
  signatureProof,
} from '../verifierFixture.ts'
import type { Verdict } from './verificationCase.ts'

/** Facts that decide the price, and the expected result. */
export interface PriceCase {
  readonly rule: string
  readonly says: string
  readonly verdict: Verdict
  readonly present: (verifier: VerifierFixture) => Promise<Presentation>
}

interface Presentation {
  readonly judged: Settlement | Refusal
  /** For an accepted payment: the quote that decided, or undefined for the price list. */
  readonly quoteId: string | undefined
  readonly requiredBaseUnits: bigint
}

const cheapBaseUnits = 500_001n
const dearBaseUnits = 900_001n
/** A block's time is in whole seconds, so a limit is met or missed by a second. */
const secondMs = 1_000

/** Rule 8: how old a payment may be when it is presented for the first time. */
export const ageCases: readonly PriceCase[] = [
  { rule: '8a', says: 'presented at the last moment of its age', verdict: 'accepted', present: presentedAfter(0) },
  { rule: '8a', says: 'presented a second later', verdict: 'too_old', present: presentedAfter(secondMs) },
]

/** Rule 9: a bound payment has the price of its quote, a plain one that of the cheapest quote that was open. */
export const priceCases: readonly PriceCase[] = [
  {
    rule: '9a',
    says: 'two open quotes: the cheaper one is paid',
    verdict: 'accepted',
    async present(verifier) {
      const { payer, cheap } = await payerWithTwoQuotes(verifier)
      return priced(await payPlainly(verifier, payer, cheapBaseUnits), cheap)
    },
  },
  {
    rule: '9a',
    says: 'two open quotes: the more expensive one is paid, and the cheaper one decides',
    verdict: 'accepted',
    async present(verifier) {
      const { payer, cheap } = await payerWithTwoQuotes(verifier)
      return priced(await payPlainly(verifier, payer, dearBaseUnits), cheap)
    },
  },
  {
    rule: '9a',
    says: 'two open quotes: less than the cheaper one is paid',
    verdict: 'burn_insufficient',
    async present(verifier) {
      const { payer, cheap } = await payerWithTwoQuotes(verifier)
      return priced(await payPlainly(verifier, payer, cheapBaseUnits - 10n), cheap)
    },
  },
  {
    rule: '9a',
    says: "another wallet's cheaper quote",
    verdict: 'burn_insufficient',
    async present(verifier) {
      const [payer, other] = [await newCustomer(verifier), await newCustomer(verifier, 0n)]
      const cheap = await quoteAt(verifier, other, cheapBaseUnits)
      return priced(await payPlainly(verifier, payer, cheapBaseUnits), cheap)
    },
  },
  {
    rule: '9b',
    says: 'landed at the last moment of the grace after the quote expired',
    verdict: 'accepted',
    present: (verifier) =>
      paidLate(verifier, { lateMs: quoteGraceMs - secondMs, paidBaseUnits: cheapBaseUnits, decides: 'quote' }),
  },
  {
    rule: '9b',
    says: "landed at the end of the grace, with the quote's amount",
    verdict: 'burn_insufficient',
    present: (verifier) =>
      paidLate(verifier, { lateMs: quoteGraceMs, paidBaseUnits: cheapBaseUnits, decides: 'quote' }),
  },
  {
    rule: '9b',
    says: "landed at the end of the grace, bound, with the quote's amount",
    verdict: 'burn_insufficient',
    async present(verifier) {
      startSecond(verifier)
      const payer = await newCustomer(verifier)
      const offer = await quoteAt(verifier, payer, cheapBaseUnits)
      passTime(verifier, quoteTtlMs + quoteGraceMs)
      return priced(await payBound(verifier, payer, { offer, paidBaseUnits: cheapBaseUnits }), offer)
    },
  },
  {
    rule: '9b',
    says: "landed after the grace, with the quote's amount",
    verdict: 'burn_insufficient',
    present: (verifier) =>
      paidLate(verifier, { lateMs: quoteGraceMs + secondMs, paidBaseUnits: cheapBaseUnits, decides: 'quote' }),
  },
  {
    rule: '9b',
    says: 'landed after the grace, with the amount of the list in force',
    verdict: 'accepted',
    present: (verifier) =>
      paidLate(verifier, { lateMs: quoteGraceMs + secondMs, paidBaseUnits: listRequiredBaseUnits, decides: 'list' }),
  },
  {
    rule: '9c',
    says: 'paid without a quote, with the amount of the list in force',
    verdict: 'accepted',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      return listed(await payPlainly(verifier, payer, listRequiredBaseUnits))
    },
  },
  {
    rule: '9c',
    says: 'paid without a quote, with ten base units less',
    verdict: 'burn_insufficient',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      return listed(await payPlainly(verifier, payer, listRequiredBaseUnits - 10n))
    },
  },
  {
    rule: '9d',
    says: 'paid before the quote was made: a later, cheaper quote is not used',
    verdict: 'burn_insufficient',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const signature = await landPrice(verifier, payer, cheapBaseUnits)
      verifier.chain.advanceSlots(1)
      const later = await quoteAt(verifier, payer, cheapBaseUnits)
      return priced(await present(verifier, payer, signatureProof(signature)), later)
    },
  },
  {
    rule: '9d',
    says: 'paid in the slot in which the quote was made',
    verdict: 'accepted',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const signature = await landPrice(verifier, payer, cheapBaseUnits)
      const same = await quoteAt(verifier, payer, cheapBaseUnits)
      return priced(await present(verifier, payer, signatureProof(signature)), same)
    },
  },
  {
    rule: '9e',
    says: "bound to the more expensive of two open quotes, and the cheaper one's amount is paid",
    verdict: 'burn_insufficient',
    async present(verifier) {
      const { payer, dear } = await payerWithTwoQuotes(verifier)
      return priced(await payBound(verifier, payer, { offer: dear, paidBaseUnits: cheapBaseUnits }), dear)
    },
  },
  {
    rule: '9e',
    says: 'bound to the more expensive of two open quotes, and its amount is paid',
    verdict: 'accepted',
    async present(verifier) {
      const { payer, dear } = await payerWithTwoQuotes(verifier)
      return priced(await payBound(verifier, payer, { offer: dear, paidBaseUnits: dearBaseUnits }), dear)
    },
  },
  {
    rule: '9e',
    says: 'bound to a quote that had expired, with the amount of the list in force',
    verdict: 'accepted',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const offer = await quoteAt(verifier, payer, cheapBaseUnits)
      passTime(verifier, quoteTtlMs + quoteGraceMs + secondMs)
      return listed(await payBound(verifier, payer, { offer, paidBaseUnits: listRequiredBaseUnits }))
    },
  },
  {
    rule: '9e',
    says: "bound to a quote that had expired, with the quote's amount",
    verdict: 'burn_insufficient',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const offer = await quoteAt(verifier, payer, cheapBaseUnits)
      passTime(verifier, quoteTtlMs + quoteGraceMs + secondMs)
      return priced(await payBound(verifier, payer, { offer, paidBaseUnits: cheapBaseUnits }), offer)
    },
  },
  {
    rule: '1d',
    says: 'landed in the slot of the quote that its memo names',
    verdict: 'accepted',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const slot = await verifier.connection.getSlot('processed')
      const offer = await quoteFor(verifier, payer, { ...priceOf(verifier.terms, cheapBaseUnits), slot })
      return priced(await payBound(verifier, payer, { offer, paidBaseUnits: cheapBaseUnits }), offer)
    },
  },
  {
    rule: '1d',
    says: 'landed before the slot of the quote that its memo names',
    verdict: 'landed_before_quote',
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const slot = (await verifier.connection.getSlot('processed')) + 10
      const offer = await quoteFor(verifier, payer, { ...priceOf(verifier.terms, cheapBaseUnits), slot })
      return priced(await payBound(verifier, payer, { offer, paidBaseUnits: dearBaseUnits }), offer)
    },
  },
]

function presentedAfter(moreMs: number) {
  return async (verifier: VerifierFixture): Promise<Presentation> => {
    const payer = await newCustomer(verifier)
    const offer = await quoteAt(verifier, payer, cheapBaseUnits)
    passTime(verifier, 0)
    const signature = await landPrice(verifier, payer, cheapBaseUnits)
    // The block's time has no fraction of a second, so the age is counted from the full second.
    const landedAtMs = Math.floor(verifier.clock.nowMs() / secondMs) * secondMs
    verifier.clock.advance(landedAtMs + proofMaxAgeMs + moreMs - verifier.clock.nowMs())
    return priced(await present(verifier, payer, signatureProof(signature)), offer)
  }
}

interface Late {
  readonly lateMs: number
  readonly paidBaseUnits: bigint
  readonly decides: 'quote' | 'list'
}

async function paidLate(verifier: VerifierFixture, { lateMs, paidBaseUnits, decides }: Late): Promise<Presentation> {
  startSecond(verifier)
  const payer = await newCustomer(verifier)
  const offer = await quoteAt(verifier, payer, cheapBaseUnits)
  passTime(verifier, quoteTtlMs + lateMs)
  const judged = await payPlainly(verifier, payer, paidBaseUnits)
  return decides === 'quote' ? priced(judged, offer) : listed(judged)
}

/** Quotes are timed in milliseconds and blocks in seconds; from here on the two agree. */
function startSecond(verifier: VerifierFixture): void {
  passTime(verifier, secondMs - (verifier.clock.nowMs() % secondMs))
}

/** The chain notices the time when its next slot begins. */
function passTime(verifier: VerifierFixture, durationMs: number): void {
  verifier.clock.advance(durationMs)
  verifier.chain.advanceSlots(1)
}

async function payerWithTwoQuotes(verifier: VerifierFixture) {
  const payer = await newCustomer(verifier)
  const dear = await quoteAt(verifier, payer, dearBaseUnits)
  const cheap = await quoteAt(verifier, payer, cheapBaseUnits)
  await quoteAt(verifier, payer, dearBaseUnits)
  return { payer, dear, cheap }
}

function quoteAt(
  verifier: VerifierFixture,
  customer: Pick<Customer, 'address'>,
  requiredBaseUnits: bigint,
): Promise<Offer> {
  return quoteFor(verifier, customer, priceOf(verifier.terms, requiredBaseUnits))
}

export async function landPrice(
  verifier: VerifierFixture,
  payer: Customer,
  requiredBaseUnits: bigint,
): Promise<string> {
  return land(verifier, instructionsFor(verifier, payer, requiredBaseUnits), [payer.keypair])
}

function instructionsFor(verifier: VerifierFixture, payer: Customer, requiredBaseUnits: bigint) {
  const price = priceOf(verifier.terms, requiredBaseUnits)
  const send = gross(verifier, price.requiredBaseUnits - price.burnBaseUnits)
  return [burnOf(verifier, payer, { burn: price.burnBaseUnits }), transferOf(verifier, payer, { send })]
}

async function payPlainly(
  verifier: VerifierFixture,
  payer: Customer,
  baseUnits: bigint,
): Promise<Settlement | Refusal> {
  return present(verifier, payer, signatureProof(await landPrice(verifier, payer, baseUnits)))
}

interface BoundPayment {
  readonly offer: Offer
  readonly paidBaseUnits: bigint
}

async function payBound(
  verifier: VerifierFixture,
  payer: Customer,
  { offer, paidBaseUnits }: BoundPayment,
): Promise<Settlement | Refusal> {
  const instructions = [memo(offer.quote.memo), ...instructionsFor(verifier, payer, paidBaseUnits)]
  const signature = await land(verifier, instructions, [payer.keypair])
  return present(verifier, payer, signatureProof(signature, offer.secret))
}

function priced(judged: Settlement | Refusal, { quote }: Offer): Presentation {
  return { judged, quoteId: quote.id, requiredBaseUnits: quote.requiredBaseUnits }
}

function listed(judged: Settlement | Refusal): Presentation {
  return { judged, quoteId: undefined, requiredBaseUnits: listRequiredBaseUnits }
}
