import { once } from 'node:events'
import { request as openRequest } from 'node:http'
import { z } from 'zod'
import { type Address, readAddress } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { type SponsoredTransaction, sponsorProblems } from '../payment/sponsoredTransaction.ts'
import type { DayBudget } from './feePayerSigner.ts'

/** The signer, as the service uses it. */
export interface SignerClient {
  standing(): Promise<{ readonly address: Address; readonly whyClosed: string | undefined }>
  find(digest: string): Promise<Signature | undefined>
  sign(transaction: SponsoredTransaction): Promise<Signature | Refusal>
}

export interface SignerClientOptions {
  readonly socketPath: string
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Called with each reading of the signer's budget. */
  readonly onBudget?: (day: DayBudget) => void
}

const address = z.string().transform((text, context) => readAddress(text) ?? invalid(context))
const signature = z.string().transform((text, context) => readSignature(text) ?? invalid(context))
// A signer of an earlier release does not report its budget, or closes for its budget only.
const day = z.object({ lamports: z.number(), leftLamports: z.number() }).optional()
const standingJson = z.object({ address, isOpen: z.boolean(), whyClosed: z.string().optional(), day })
const signatureJson = z.object({ signature })
const outcomeJson = z.union([
  signatureJson,
  z.object({ problem: z.enum(Object.keys(sponsorProblems)) }),
  z.object({ overBudget: z.string() }),
])

function invalid(context: z.core.$RefinementCtx): never {
  context.addIssue('is not an address or signature')
  return z.NEVER
}

// Each 402 asks whether the signer is there.
const standingForMs = 1_000
const timeoutMs = 5_000
const signatureRetrySeconds = 60

/** The standing of the signer is remembered for `standingForMs`, so that an offer costs no call. */
export function createSignerClient({ socketPath, clock, onBudget }: SignerClientOptions): SignerClient {
  return {
    standing: rememberStanding(clock, () => readStanding(socketPath, onBudget)),
    async find(digest) {
      const { status, text } = await call(socketPath, { path: `/signatures/${digest}` })
      return status === 404 ? undefined : parse(signatureJson, text).signature
    },
    async sign({ bytes, payer, feeLamports }) {
      const { text } = await call(socketPath, { path: '/signatures', body: bytes })
      const outcome = parse(outcomeJson, text)
      if ('signature' in outcome) return outcome.signature
      if ('problem' in outcome) return refuseProof('not_sponsored', outcome.problem)
      // A later day does not help, and what the fee payer has not signed cannot land.
      if (outcome.overBudget === 'perPayment')
        return refuseProof(
          'not_sponsored',
          `its network fee is up to ${feeLamports} lamports, more than is paid for one`,
        )
      const why = `the signer's budget of ${outcome.overBudget} does not allow the fee of a payment by ${payer}`
      return refuse('ENDPOINT_UNAVAILABLE', `${why}; nothing was sent`, signatureRetrySeconds)
    },
  }
}

/** One reading at a time. While one follows a failure, the failure is repeated: no offer waits for a signer that hangs. */
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

type SignerStanding = Awaited<ReturnType<SignerClient['standing']>>

async function readStanding(socketPath: string, onBudget?: (day: DayBudget) => void): Promise<SignerStanding> {
  const { address: own, isOpen, ...standing } = parse(standingJson, (await call(socketPath, { path: '/' })).text)
  if (standing.day !== undefined) onBudget?.(standing.day)
  const { whyClosed = "the signer's budget of this day is used up" } = standing
  return { address: own, whyClosed: isOpen ? undefined : whyClosed }
}

interface Call {
  readonly path: string
  readonly body?: Uint8Array
}

async function call(socketPath: string, { path, body }: Call) {
  try {
    const request = openRequest({
      socketPath,
      // A kept connection may be one that the signer has just closed, and opening one on this machine costs next to nothing.
      agent: false,
      path,
      method: body === undefined ? 'GET' : 'POST',
      signal: AbortSignal.timeout(timeoutMs),
    })
    request.end(body)
    const [response] = await once(request, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(Buffer.from(chunk))
    return { status: Number(response.statusCode), text: Buffer.concat(chunks).toString('utf8') }
  } catch (error) {
    throw new Fault('the signer of the network fees does not answer', { cause: error, retryable: true })
  }
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new Fault('the signer of the network fees does not answer as expected', { cause: error, retryable: true })
  }
}
