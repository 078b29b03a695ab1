import { z } from 'zod'
import { readSubject } from '../diagnosis/readSubject.ts'
import { refundActions, type RefundOrder, type RefundOutcome } from '../diagnosis/recordDecision.ts'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import type { AccessHolder } from './financeAccess.ts'
import type { FreeAction } from '../transport/freeRoute.ts'
import { invalidRequest } from '../transport/transportError.ts'

/** Records a decision about a refund. Undefined if the service has no login of tollbook_finance. */
export type DecideRefund = ((order: RefundOrder) => Promise<RefundOutcome>) | undefined

const amountExpected = 'must be base units as a decimal text'
const order = z
  .strictObject({
    action: z.enum(refundActions, `must be one of ${refundActions.join(', ')}`),
    payment: z.string('must be the signature of the payment'),
    reason: z
      .string('must say why')
      .min(1, 'must say why')
      .max(500, 'must have at most 500 characters')
      .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be valid Unicode without U+0000'),
    amountBaseUnits: z
      .string(amountExpected)
      .regex(/^[1-9]\d{0,19}$/, amountExpected)
      .transform(BigInt)
      .optional(),
  })
  .refine(({ action, amountBaseUnits }) => action === 'grant' || amountBaseUnits === undefined, {
    path: ['amountBaseUnits'],
    message: 'goes with grant only; the other actions approve the whole debt',
  })

/** Serves `POST /api/finance/decisions`. The record contains the holder of the token as the person who decided. */
export async function serveDecision(
  decide: DecideRefund,
  { body }: FreeAction,
  { subject, roles }: AccessHolder,
): Promise<Answer> {
  const given = order.safeParse(body)
  if (!given.success)
    return invalidRequest(given.error.issues.map(({ path, message }) => ({ field: path.join('.') || 'body', message })))
  const { payment, ...rest } = given.data
  const found = readSubject(payment)
  if (found?.kind !== 'payment')
    return invalidRequest([
      { field: 'payment', message: 'must be a signature or a reference such as solana:<signature>' },
    ])
  if (decide === undefined)
    return jsonAnswer(
      503,
      JSON.stringify({
        error: 'decisions are off: the operator has not set FINANCE_DATABASE_URL',
        code: 'UNAVAILABLE',
      }),
    )
  const role = roles.includes('finance') ? 'finance' : 'support'
  const outcome = await decide({
    ...rest,
    amountBaseUnits: rest.amountBaseUnits,
    reference: found.reference,
    by: subject,
    role,
  })
  return outcome.recorded
    ? jsonAnswer(200, JSON.stringify({ success: true, data: outcome }))
    : jsonAnswer(409, JSON.stringify({ error: `nothing was recorded: ${outcome.why}`, code: 'REFUSED' }))
}
