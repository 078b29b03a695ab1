import { describeError, Fault } from '@tollbook/core/fault'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface SignerHealth extends Repeated {
  /** Undefined while the signer signs. Otherwise nothing is sold by x402 and MPP. */
  problem(): string | undefined
}

export interface SignerHealthDeps extends RepeatDeps {
  /** Rejects with a `Fault` when the signer does not answer. */
  readonly readStanding: () => Promise<{ readonly whyClosed: string | undefined }>
}

// Same interval as the ledger and clock checks. A check costs one call on a Unix socket.
const everyMs = 5_000

/**
 * Checks the signer, which is another process. Without this job only callers would notice its end: they get no offers
 * of x402 and MPP.
 */
export async function startSignerHealth(deps: SignerHealthDeps): Promise<SignerHealth> {
  let problem: string | undefined
  async function look(): Promise<void> {
    const { found, error } = await findProblem(deps)
    if (found !== problem) deps.log.warn({ event: 'signer_health_changed', problem: found ?? 'none', ...error })
    problem = found
  }
  await look()
  const task = repeat(deps, { name: 'signer health', everyMs, run: look })
  return { problem: () => problem, stop: () => task.stop() }
}

/** The problem is public. The error contains the socket's path, so it goes to the log only. */
async function findProblem({ readStanding }: SignerHealthDeps) {
  try {
    return { found: (await readStanding()).whyClosed, error: {} }
  } catch (error) {
    if (error instanceof Fault) return { found: error.message, error: { error: describeError(error) } }
    throw error
  }
}
