import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { z } from 'zod'
import { PaymentNotSent } from '@tollbook/client/paymentError'
import type { PaymentProgress } from '@tollbook/client/paymentProgress'
import { createPayingFetch } from '@tollbook/client/payingFetch'
import { parseJson, readBody } from '@tollbook/client/readBody'
import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import type { CommandDeps } from './commandDeps.ts'
import { type SavedPayments, openSavedPayments } from './savedPayments.ts'
import { exitCodeOf, exitCodeOfStatus, payExitCodes, payExitHelp } from './payExit.ts'
import { type PayArguments, type PayOptions, type PayOrder, readPayOrder } from './payOrder.ts'
import { reportAnswer, reportPayFailure, reportProgress } from './payReport.ts'
import { rethrowAsUsage } from './usageProblem.ts'

const defaultMaxUsd = '0.10'

/** `tollbook pay`: curl that pays, and shows the data and the receipt. */
export function payCommand(deps: CommandDeps): Command {
  return new Command('pay')
    .description('request a paid endpoint, pay what it asks within a limit, print the data and the receipt')
    .argument('[method]', 'GET or POST')
    .argument('[path]', "path with its query, for example '/api/data/crypto?symbol=BTC'")
    .option('--json <body>', 'body of the request as JSON, or @FILE')
    .option('--max-usd <amount>', 'pay no more than this for the request, in US dollars', defaultMaxUsd)
    .option('--wallet <file>', 'keypair file of the Solana CLI (default: the demo wallet of local mode)')
    .option('--form <form>', 'bound: theft-proof; transaction: plain and not sent yet; signature: sent by us', 'bound')
    .option('--base-url <url>', 'the service (default: the one that runs in local mode)')
    .option('--rpc-url <url>', 'a Solana node (default: the chain of local mode)')
    .option('--mint <address>', 'refuse to pay in any other token (default: the token of local mode)')
    .option('--burn-percent <number>', 'refuse to pay a price with any other burn; any: accept each (default: 30)')
    .option('--receipt-key <file>', 'key of the service, JWK or JWKS, to check the receipt with (default: local mode)')
    .option('--output <file>', 'write the answer to a file instead')
    .option(
      '--resume <file>',
      'present a kept payment again; never signs another. METHOD PATH only for another request',
    )
    .addHelpText('after', payExitHelp)
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: (text) => void deps.stderr.write(text),
    })
    .exitOverride(rethrowAsUsage)
    .action(async (method: string | undefined, path: string | undefined, options: PayOptions) => {
      deps.setExitCode(await pay(deps, { method, path, options }))
    })
}

async function pay(deps: CommandDeps, given: PayArguments): Promise<number> {
  const stored = openSavedPayments(join(deps.home(), 'payments'))
  try {
    const order = await readPayOrder(deps.home(), given)
    return await perform(deps, order, stored)
  } catch (error) {
    const exitCode = exitCodeOf(error, deps.interrupted)
    if (exitCode === undefined || !(error instanceof Error)) throw error
    if (error instanceof PaymentNotSent) await stored.forget()
    reportPayFailure(deps, { error, exitCode, pathOf: stored.pathOf })
    return exitCode
  }
}

async function perform(deps: CommandDeps, order: PayOrder, stored: SavedPayments): Promise<number> {
  const { receiptKeys: keys, output } = order
  const response = await send(deps, order, async (event) => {
    // On disk before it leaves, so that nothing that happens to this process can lose it.
    if (event.kind === 'signed' || event.kind === 'resumed') await stored.keep(event.payment)
    reportProgress(deps, event)
  })
  const body = await readAnswer(response)
  const receipt = paidBody.safeParse(body).data?.receipt
  const verdict = receipt === undefined || keys === undefined ? undefined : await verifyReceipt({ receipt, keys })
  if (output !== undefined) await writeFile(output, `${JSON.stringify(body, null, 2)}\n`)
  const { status, headers } = response
  reportAnswer(deps, { status, body, verdict, output, replayed: headers.get('idempotent-replay') === 'true' })
  // Only now has the payer received the answer.
  await stored.forget()
  return verdict?.valid === false ? payExitCodes.receiptInvalid : exitCodeOfStatus(status)
}

const paidBody = z.object({ receipt: z.unknown() })

type OnPaymentEvent = (event: PaymentProgress) => Promise<void>

function send(deps: CommandDeps, order: PayOrder, onEvent: OnPaymentEvent): Promise<Response> {
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

/** Text that is not JSON is not an answer of the service: shown as it came. */
async function readAnswer(response: Response): Promise<unknown> {
  const bytes = await readBody(response, answerBytesMax)
  return parseJson(bytes) ?? Buffer.from(bytes).toString('utf8')
}
