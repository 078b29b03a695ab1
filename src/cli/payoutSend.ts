import type { Payout } from '../payout/openPayout.ts'
import type { LeftOut, UnsignedPayout } from '../payout/preparePart.ts'
import type { Address } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import type { CommandDeps } from './commandDeps.ts'
import { payoutKeysIn } from './payoutArguments.ts'

type Plan = Parameters<Payout['prepare']>[0]

export interface PartsToSend {
  readonly plan: Plan
  readonly parts: readonly number[]
}

export async function printUnsigned(deps: CommandDeps, payout: Payout, { plan, parts }: PartsToSend): Promise<void> {
  const unpaid = unpaidLines(deps)
  for (const part of parts) {
    const { payout: built, leftOut } = await payout.prepare(plan, part, payout.terms.paymentWallet)
    unpaid.name(part, leftOut)
    if (built === undefined) continue
    const line = { part, memo: built.memo, transaction: Buffer.from(built.transaction).toString('base64') }
    deps.stdout.write(`${JSON.stringify(line)}\n`)
  }
  unpaid.refuse()
}

interface SigningOrder extends PartsToSend {
  readonly keypair: string
  readonly feePayer: string | undefined
}

/**
 * Sends the parts. Continues after a part that failed, and stops at a part with an unknown outcome. A repeated command
 * sends the parts that are not paid yet.
 */
export async function sendParts(deps: CommandDeps, payout: Payout, order: SigningOrder): Promise<void> {
  const { feePayer, signers } = await payoutKeysIn(payout.terms.paymentWallet, order)
  const unpaid = unpaidLines(deps)
  for (const part of order.parts) {
    const { payout: built, leftOut } = await payout.prepare(order.plan, part, feePayer.address)
    unpaid.name(part, leftOut)
    if (built === undefined) continue
    const failure = await sendPart(deps, payout, { plan: order.plan, part, built, signers })
    if (failure !== undefined) unpaid.fail(part, failure)
  }
  unpaid.refuse()
}

interface PartToSign {
  readonly plan: Plan
  readonly part: number
  readonly built: UnsignedPayout
  readonly signers: readonly { readonly address: Address; readonly secretKey: Uint8Array }[]
}

/**
 * Signs, records and sends a part. Undefined if the part is on chain. Returns the reason if it certainly is not, and
 * throws while the outcome is unknown.
 */
async function sendPart(
  deps: CommandDeps,
  payout: Payout,
  { plan, part, built, signers }: PartToSign,
): Promise<string | undefined> {
  const { signature, transaction } = payout.sign(built.transaction, signers)
  // Record the part before sending it. A crash then cannot lose the part, and no other process sends it too.
  const { lastValidBlockHeight } = built
  const attempt = await payout.recordSignedPart(plan, { part, signature, transaction, lastValidBlockHeight })
  deps.stderr.write(`part ${part}: ${signature}\n`)
  const failure = await payout.landPart(attempt, deps.interrupted)
  if (failure === undefined) deps.stdout.write(`${JSON.stringify({ part, signature })}\n`)
  return failure
}

/** Counts and prints the debts that a run has not paid. They are still owed. */
function unpaidLines({ stderr }: Pick<CommandDeps, 'stderr'>) {
  let count = 0
  const add = (line: string) => {
    count += 1
    stderr.write(`${line}\n`)
  }
  return {
    name(part: number, leftOut: readonly LeftOut[]): void {
      for (const { account, wallet, why } of leftOut) add(`part ${part} leaves out ${account} to ${wallet}: ${why}`)
    },
    fail: (part: number, why: string) => add(`part ${part} was not paid: ${why}`),
    refuse(): void {
      if (count === 0) return
      throw new Fault(
        `not everything was paid: ${count} problems are named above, and all other lines were sent. Record what was sent; then \`payout plan\` plans the rest without wallets that cannot be paid`,
        { retryable: false },
      )
    },
  }
}
