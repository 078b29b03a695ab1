import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { utf8Text } from '@tollbook/core/bytes'
import { createPayingFetch } from '../payingFetch.ts'
import { PaymentNotSent, PaymentRefused } from '../paymentError.ts'
import type { PaymentProgress } from '../paymentProgress.ts'
import { parseJson, readBody } from '../readBody.ts'
import { verifyReceipt } from '../verifyReceipt.ts'
import type { PayCommandDeps } from './commandDeps.ts'
import { exitCodeOf, exitCodeOfStatus, payExitCodes } from './payExit.ts'
import { type PayOrder, readPayOrder } from './payOrder.ts'
import { reportAnswer, reportPayFailure, reportProgress } from './payReport.ts'
import { payHelp, readPayArguments } from './payArguments.ts'
import { openSavedPayments, type SavedPayments } from './savedPayments.ts'

/** Returns the exit code. */
export async function runPayCommand(argv: readonly string[], deps: PayCommandDeps): Promise<number> {
  const stored = openSavedPayments(deps.paymentFolder)
  try {
    const given = readPayArguments(argv)
    if (given === undefined) {
      deps.stdout.write(payHelp)
      return payExitCodes.answered
    }
    return await perform(deps, await readPayOrder(await deps.readLocal(), given), stored)
  } catch (error) {
    const exitCode = exitCodeOf(error, deps.interrupted)
    if (exitCode === undefined || !(error instanceof Error)) throw error
    if (error instanceof PaymentNotSent || error instanceof PaymentRefused) await stored.forget()
    reportPayFailure(deps, { error, exitCode, pathOf: stored.pathOf })
    return exitCode
  }
}

async function perform(deps: PayCommandDeps, order: PayOrder, stored: SavedPayments): Promise<number> {
  const { receiptKeys: keys, output } = order
  const response = await send(deps, order, async (event) => {
    // Store the payment before it leaves, so that a crash of this process cannot lose it.
    if (event.kind === 'signed' || event.kind === 'resumed') await stored.keep(event.payment)
    reportProgress(deps, event)
  })
  const body = await readAnswer(response)
  const receipt = paidBody.safeParse(body).data?.receipt
  const verdict = receipt === undefined || keys === undefined ? undefined : await verifyReceipt({ receipt, keys })
  if (output !== undefined) await writeFile(output, `${JSON.stringify(body, null, 2)}\n`)
  const { status, headers } = response
  reportAnswer(deps, { status, body, verdict, output, replayed: headers.get('idempotent-replay') === 'true' })
  // Forget the payment only now: the payer has received the answer.
  await stored.forget()
  return verdict?.valid === false ? payExitCodes.receiptInvalid : exitCodeOfStatus(status)
}

const paidBody = z.object({ receipt: z.unknown() })

type OnPaymentEvent = (event: PaymentProgress) => Promise<void>

function send(deps: PayCommandDeps, order: PayOrder, onEvent: OnPaymentEvent): Promise<Response> {
  const { task, maxUsd, receiptKeys: _keys, output: _output, ...options } = order
  const { clock, interrupted: signal } = deps
  const payingFetch = createPayingFetch({
    ...options,
    spendingLimit: { perRequest: { usd: maxUsd } },
    ...(clock === undefined ? {} : { clock }),
    onEvent,
  })
  if (task.kind === 'buy') return payingFetch(task.request.input, { ...task.request.init, signal })
  const instead = task.instead === undefined ? {} : { instead: task.instead }
  return payingFetch.resume(task.payment, { signal, ...instead })
}

const answerBytesMax = 64 * 1024 * 1024

/** Returns text that is not JSON as it came; the service sends JSON only. */
async function readAnswer(response: Response): Promise<unknown> {
  const bytes = await readBody(response, answerBytesMax)
  return parseJson(bytes) ?? utf8Text(bytes)
}
