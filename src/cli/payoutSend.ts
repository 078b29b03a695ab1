import { join } from 'node:path'
import { landTransaction } from '@tollbook/client/landTransaction'
import { connectPayerChain } from '@tollbook/client/payerChain'
import { readConfig } from '../config.ts'
import type { Payout } from '../payout/openPayout.ts'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { readLocalJson } from './localJson.ts'
import { payoutRpcUrl } from './payoutAccess.ts'
import { keypairIn } from './payoutArguments.ts'
import { UsageProblem } from './usageProblem.ts'

type Plan = Parameters<Payout['build']>[0]

export interface PartsToSend {
  readonly plan: Plan
  readonly parts: readonly number[]
}

/** For a multisig: its signers add the signatures of the payment wallet. */
export async function printUnsigned(deps: CommandDeps, payout: Payout, { plan, parts }: PartsToSend): Promise<void> {
  for (const part of parts) {
    const { transaction, memo } = await payout.build(plan, part, payout.terms.paymentWallet)
    const line = { part, memo, transaction: Buffer.from(transaction).toString('base64') }
    deps.stdout.write(`${JSON.stringify(line)}\n`)
  }
}

interface SigningOrder extends PartsToSend {
  readonly keypair: string
  readonly feePayer: string | undefined
}

/** One after the other. A part whose outcome is not known stops the rest; sending the plan again goes on where it was. */
export async function sendParts(deps: CommandDeps, payout: Payout, order: SigningOrder): Promise<void> {
  const wallet = await keypairIn('--keypair', order.keypair)
  if (wallet.address !== payout.terms.paymentWallet)
    throw new UsageProblem('--keypair', `is not the payment wallet ${payout.terms.paymentWallet}`)
  const payer = order.feePayer === undefined ? wallet : await keypairIn('--fee-payer', order.feePayer)
  const local = await readLocalJson(join(deps.home(), 'local.json'))
  const { clock = systemClock, interrupted: signal } = deps
  const chain = connectPayerChain({ rpcUrl: payoutRpcUrl(readConfig(), local) })
  for (const part of order.parts) {
    const feePayer = payer.address
    const { transaction: unsigned, lastValidBlockHeight } = await payout.build(order.plan, part, feePayer)
    const signed = payout.sign(unsigned, payer === wallet ? [wallet] : [payer, wallet])
    // The part is on record before it leaves, so that nothing that happens to this process can lose it, and no other sends it.
    await payout.recordSignedPart(order.plan, { part, ...signed, lastValidBlockHeight })
    deps.stderr.write(`part ${part}: ${signed.signature}\n`)
    const landing = await landTransaction(
      { chain, clock, signal },
      { ...signed, lastValidBlockHeight, sentBefore: false },
    )
    if (landing.outcome !== 'confirmed') {
      const why = landing.outcome === 'rejected' ? landing.why : landing.outcome
      throw new Fault(`part ${part} was not paid (${why}); the parts before it were`, { retryable: false })
    }
    deps.stdout.write(`${JSON.stringify({ part, signature: signed.signature })}\n`)
  }
}
