import type pg from 'pg'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { type BurnState, decideBurnConfirm, decideBurnSubmit, evolveBurn, unknownBurn } from '../../src/payment/burn.ts'
import { createEventCodec } from '../../src/payment/eventCodec.ts'
import type { BurnEvent } from '../../src/payment/events.ts'
import { burnEvents, type EndpointBurn } from '../../src/payment/events/burnEvents.ts'
import type { PaymentReference } from '../../src/payment/paymentReference.ts'
import { sampleReference } from '../store/samplePayment.ts'

const codec = createEventCodec<BurnEvent>(burnEvents)

interface Round {
  /** Each round is recorded once. */
  readonly round?: number
  readonly mint: Address
  readonly parts: readonly EndpointBurn[]
  readonly effectiveAtMs: number
  /** The round burns the debts up to this position. */
  readonly throughPosition?: number
}

/** Records a submitted and confirmed burn of what is owed. `admin` stands in for the login of the burner. */
export async function recordBurn(
  admin: pg.Pool,
  { round: number = 1, mint, parts, effectiveAtMs, throughPosition = 1 }: Round,
): Promise<PaymentReference> {
  const stream = sampleReference()
  const burnedBaseUnits = parts.reduce((sum, part) => sum + part.baseUnits, 0n)
  const append = async (state: BurnState, decision: ReturnType<typeof decideBurnSubmit>): Promise<BurnState> => {
    const [event] = assertPresent(decision, 'the burn is in a state for it').events
    const body = codec.encode(event, { stream, version: state.version + 1, effectiveAtMs })
    const { rows } = await admin.query('select refusal from ledger.record_burn($1)', [Buffer.from(body, 'utf8')])
    assert(rows[0]?.refusal === null, `the burn was recorded, not refused as ${rows[0]?.refusal}`)
    return evolveBurn(state, event)
  }
  const delegate = { allowanceBaseUnits: burnedBaseUnits, lamports: 50_000n }
  const bytes = { lastValidHeight: 900, delegate, transactionBase64: 'AA==' }
  const round = { round: number, mint, throughPosition, parts, ...bytes }
  const submitted = await append(unknownBurn, decideBurnSubmit(unknownBurn, round))
  const confirmed = await append(submitted, decideBurnConfirm(submitted, { burnedBaseUnits, slot: 2_000 }))
  assert(confirmed.phase === 'confirmed', 'a confirmed burn is confirmed')
  return stream
}
