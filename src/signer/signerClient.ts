import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { type SponsoredTransaction, sponsorProblems } from '../payment/sponsoredTransaction.ts'
import type { DayBudget } from './feePayerSigner.ts'
import type { SignerAddress } from './signerAddress.ts'
import { type CallSigner, createCallSigner, type SignerReply } from './signerCall.ts'
import type { RehearsedBalance, SigningStanding } from '../payment/sponsoredTransaction.ts'
import { isSigningRule, type SigningRule, signingRules } from './signingRules.ts'

export interface SignerClientOptions {
  readonly address: SignerAddress
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>
  readonly onBudget?: (day: DayBudget) => void
}

const address = z.string().transform((text, context) => readAddress(text) ?? invalid(context))
const signature = z.string().transform((text, context) => readSignature(text) ?? invalid(context))
// The lamports of a day fit into a JSON number.
const lamports = z.int().transform(BigInt)
const day = z.object({ lamports, leftLamports: lamports }).optional()
const standingJson = z.object({ address, isOpen: z.boolean(), whyClosed: z.string().optional(), day })
const foundJson = z.object({ signature: signature.optional(), asOf: z.string() })
const outcomeJson = z.union([
  z.object({ signature }),
  z.object({ problem: z.enum(Object.keys(sponsorProblems)) }),
  z.object({ rule: z.string().transform((text, context) => (isSigningRule(text) ? text : invalid(context))) }),
])

function invalid(context: z.core.$RefinementCtx): never {
  context.addIssue('is not an address, signature or rule')
  return z.NEVER
}

// Milliseconds for which the state of the signer is cached, because each 402 needs it.
const standingForMs = 1_000

/** Caches the signer's state for `standingForMs`, so that most offers need no call. */
export function createSignerClient({ address: place, clock, onBudget }: SignerClientOptions) {
  const call = createCallSigner(place, clock)
  return {
    standing: rememberStanding(clock, () => readStanding(call, onBudget)),
    async find({ digest, payer }: Pick<SponsoredTransaction, 'digest' | 'payer'>): Promise<SigningStanding> {
      const { signature: given, asOf } = parse(foundJson, await call({ path: `/signatures/${digest}?wallet=${payer}` }))
      return { signature: given, asOf }
    },
    async sign(
      transaction: SponsoredTransaction,
      { heldBaseUnits, asOf }: RehearsedBalance,
    ): Promise<Signature | Refusal> {
      const query = new URLSearchParams({ held: String(heldBaseUnits), asOf })
      const reply = await call({ path: `/signatures?${query.toString()}`, method: 'POST', body: transaction.bytes })
      const outcome = parse(outcomeJson, reply)
      if ('signature' in outcome) return outcome.signature
      if ('problem' in outcome) return refuseProof('not_sponsored', outcome.problem)
      return refuseByRule(outcome.rule, transaction)
    },
    async recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void> {
      const { status } = await call({ path: `/signatures/${digest}/${outcome}`, method: 'POST' })
      if (status !== 200) throw new Fault('the signer did not record the outcome of a payment', { retryable: true })
    },
  }
}

const budgetRetrySeconds = 60
const settlementRetrySeconds = 2

/**
 * Nothing was signed, so nothing was sent. A fee above the limit is refused for good, and the other rules may permit
 * the payment later.
 */
function refuseByRule(rule: SigningRule, { payer, feeLamports }: SponsoredTransaction): Refusal {
  const why = signingRules[rule]
  if (rule === 'perPayment') return refuseProof('not_sponsored', `${why}: up to ${feeLamports} lamports`)
  const isSettledSoon = rule === 'unsettled' || rule === 'promised'
  return refuse(
    'ENDPOINT_UNAVAILABLE',
    `the service does not pay the network fee of ${payer} now: ${why}; nothing was sent`,
    isSettledSoon ? settlementRetrySeconds : budgetRetrySeconds,
  )
}

/**
 * Allows one reading at a time. After a failed reading, the failure is returned until a new reading succeeds, so that
 * no offer waits for a signer that hangs.
 */
function rememberStanding(clock: SignerClientOptions['clock'], read: () => Promise<SignerStanding>) {
  let reading: Promise<SignerStanding> | undefined
  let failed: Promise<SignerStanding> | undefined
  let isReading = false
  let readAtMs = 0
  function start(): Promise<SignerStanding> {
    const started = read()
    isReading = true
    const end = (failure?: Promise<SignerStanding>) => {
      failed = failure
      isReading = false
      readAtMs = clock.monotonicMs()
    }
    started.then(
      () => end(),
      () => end(started),
    )
    return started
  }
  return () => {
    const isDue = !isReading && clock.monotonicMs() - readAtMs > standingForMs
    if (reading === undefined || isDue) reading = start()
    return failed ?? reading
  }
}

type SignerStanding = Awaited<ReturnType<typeof readStanding>>

async function readStanding(call: CallSigner, onBudget?: (day: DayBudget) => void) {
  const { address: own, isOpen, ...standing } = parse(standingJson, await call({ path: '/' }))
  if (standing.day !== undefined) onBudget?.(standing.day)
  const { whyClosed = 'the signer does not say why it is closed' } = standing
  return { address: own, whyClosed: isOpen ? undefined : whyClosed }
}

function parse<T>(schema: z.ZodType<T>, { text }: SignerReply): T {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new Fault('the signer of the network fees does not answer as expected', { cause: error, retryable: true })
  }
}
