import { writeFile } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { hasCode } from '../fileError.ts'
import { PaymentNotSent, PaymentRefused } from '../paymentError.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import type { PayCommandDeps } from './commandDeps.ts'
import { AnswerNotWritten, exitCodeOf, exitCodeOfStatus, payExitCodes } from './payExit.ts'
import { type PayOrder, readPayOrder } from './payOrder.ts'
import { reportAnswer, reportPayFailure, reportProgress } from './payReport.ts'
import { payHelp, readPayArguments } from './payArguments.ts'
import { printable } from './printable.ts'
import { purchase } from './purchase.ts'
import { runTabCommand } from './tabCommand.ts'
import { openSavedPayments, type SavedPayments } from './savedPayments.ts'

export async function runPayCommand(argv: readonly string[], streams: PayCommandDeps): Promise<number> {
  const { stdout, stderr } = streams
  const deps = { ...streams, stdout: stdout.isTTY === true ? printable(stdout) : stdout, stderr: printable(stderr) }
  let stored = openSavedPayments(deps.paymentFolder)
  try {
    const [word, ...rest] = argv
    if (word === 'tab') return await runTabCommand(rest, deps)
    const given = readPayArguments(argv)
    if (given === undefined) {
      deps.stdout.write(payHelp)
      return payExitCodes.answered
    }
    const order = await readPayOrder(await deps.readLocal(), given)
    const paymentFolder = order.folder ?? deps.paymentFolder
    stored = openSavedPayments(paymentFolder)
    return await perform({ ...deps, paymentFolder }, order, stored)
  } catch (error) {
    const exitCode = exitCodeOf(error, deps.interrupted)
    if (exitCode === undefined || !(error instanceof Error)) throw error
    if (error instanceof PaymentNotSent || error instanceof PaymentRefused) await stored.forget()
    reportPayFailure(deps, { error, exitCode, pathOf: stored.pathOf })
    return exitCode
  }
}

async function perform(deps: PayCommandDeps, order: PayOrder, stored: SavedPayments): Promise<number> {
  const { interrupted, clock, paymentFolder: tabFolder } = deps
  let paid: PendingPayment | undefined
  const { status, headers, body, bytes, verdict } = await purchase(order, {
    interrupted,
    tabFolder,
    ...(clock === undefined ? {} : { clock }),
    async onEvent(event) {
      // Store the payment before it is sent, so that a crash of this process cannot lose it.
      if (event.kind === 'signed' || event.kind === 'resumed') {
        paid = event.payment
        await stored.keep(paid)
      }
      reportProgress(deps, event)
    },
  })
  const { output } = order
  try {
    if (output !== undefined) await writeFile(output, bytes ?? `${JSON.stringify(body, null, 2)}\n`)
    await reportAnswer(deps, { status, body, verdict, output, replayed: headers.get('idempotent-replay') === 'true' })
  } catch (cause) {
    // A reader such as `head` closes the pipe when it has read enough of a free answer.
    if (paid === undefined && hasCode(cause, 'EPIPE')) return exitCodeOfStatus(status)
    const why = `the answer cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`
    throw paid === undefined
      ? new Fault(why, { cause, retryable: false })
      : new AnswerNotWritten(why, { payment: paid, cause })
  }
  // Forget the payment only now, because until the answer is written the stored payment can obtain it again.
  await stored.forget()
  return verdict?.valid === false ? payExitCodes.receiptInvalid : exitCodeOfStatus(status)
}
