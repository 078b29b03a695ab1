import { errorText } from '@tollbook/core/fault'
import { formatDecimal, smaller } from '@tollbook/core/money'
import { chargeOf } from '../pricing/meteredPrice.ts'
import { usdDecimals } from '../pricing/priceList.ts'
import type { MeteredJob, Outcome } from '../product/product.ts'
import type { CommandDeps } from './commandDeps.ts'
import { brokenOffExitCode, openStandardOutput } from './output.ts'
import { refusedExitCode } from './runCommand.ts'

/**
 * Prints the outcome, and returns the exit code. The content goes to standard output and all other lines to standard
 * error, so that the content can be piped.
 */
export async function printOutcome(deps: CommandDeps, outcome: Outcome): Promise<number> {
  const { stdout, stderr, interrupted } = deps
  if (outcome.kind === 'failed') {
    stderr.write(`not sold: ${outcome.code}: ${outcome.message}\n`)
    return refusedExitCode
  }
  if (outcome.kind === 'delivered') {
    stderr.write('sold: application/json in the envelope, as data\n')
    stdout.write(`${JSON.stringify(outcome.data)}\n`)
    return 0
  }
  const output = openStandardOutput(deps)
  try {
    if (outcome.kind === 'raw') {
      const headers = Object.entries(outcome.headers ?? {}).map(([name, value]) => `; ${name}: ${value}`)
      stderr.write(`sold: ${outcome.contentType}, ${outcome.bytes.length} bytes${headers.join('')}\n`)
      await output.write(outcome.bytes)
      return 0
    }
    stderr.write(`sold: ${outcome.contentType}, as it arrives\n`)
    for await (const chunk of outcome.chunks) await output.write(chunk)
    return 0
  } catch (error) {
    const exitCode = brokenOffExitCode(error, interrupted)
    if (exitCode !== undefined) return exitCode
    stderr.write(`\nnot sold: the stream broke: ${error instanceof Error ? errorText(error) : 'unknown'}\n`)
    return refusedExitCode
  }
}

/** Prints what the order costs. A tab pays for the usage, and at most the budget. All other payers pay the budget. */
export function printCharge({ stderr }: CommandDeps, { price, budgetMicroUsd }: MeteredJob, outcome: Outcome): void {
  const usage =
    outcome.kind === 'failed' ? undefined : outcome.kind === 'stream' ? outcome.usageSoFar?.() : outcome.usage
  if (usage === undefined) return
  const { input, output, isEstimated } = usage
  const costMicroUsd = chargeOf(price, usage)
  const usd = (microUsd: bigint) => `${formatDecimal(microUsd, usdDecimals)} USD`
  const counted = isEstimated ? ', as counted here, because the API reports none' : ''
  const charge = usd(smaller(costMicroUsd, budgetMicroUsd))
  stderr.write(
    `a tab pays ${charge} for ${input} units of input and ${output} of output${counted}; all others pay ${usd(budgetMicroUsd)}\n`,
  )
}
