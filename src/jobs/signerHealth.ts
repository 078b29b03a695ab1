import { describeError, Fault } from '@tollbook/core/fault'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface SignerHealth extends Repeated {
  /** Undefined while the signer signs; otherwise nothing is sold by x402 and MPP. */
  problem(): string | undefined
}

export interface SignerHealthDeps extends RepeatDeps {
  /** Rejects with a `Fault` when the signer does not answer. */
  readonly readStanding: () => Promise<{ readonly whyClosed: string | undefined }>
}

// As often as ledger and clocks. A query costs one call on a Unix socket.
const everyMs = 5_000

/** The signer is another process. Without this job its end is noticed only by callers, who are no longer offered x402 and MPP. */
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

/** The problem is public. The error names the socket, and goes to the log only. */
async function findProblem({ readStanding }: SignerHealthDeps) {
  try {
    return { found: (await readStanding()).whyClosed, error: {} }
  } catch (error) {
    if (error instanceof Fault) return { found: error.message, error: { error: describeError(error) } }
    throw error
  }
}
