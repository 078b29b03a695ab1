import { describeError, Fault } from '@tollbook/core/fault'
import type { RepeatDeps } from './repeat.ts'
import { startWatch, type Watch } from './watch.ts'

export interface SignerHealthDeps extends RepeatDeps {
  /** Rejects with a `Fault` when the signer does not answer. */
  readonly readStanding: () => Promise<{ readonly whyClosed: string | undefined }>
}

/** Without this job only callers would notice the end of the signer: they get no offers of x402 and MPP. */
export function startSignerHealth({ readStanding, ...deps }: SignerHealthDeps): Promise<Watch> {
  return startWatch(deps, {
    name: 'signer health',
    event: 'signer_health_changed',
    find: () =>
      readStanding().then(
        ({ whyClosed }) => ({ problem: whyClosed }),
        (error: unknown) => {
          if (!(error instanceof Fault)) throw error
          // The problem is public. The error contains the socket's path, so it goes to the log only.
          return { problem: error.message, error: describeError(error) }
        },
      ),
  })
}
