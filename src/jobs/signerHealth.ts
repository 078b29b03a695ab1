import { describeError, Fault } from '@tollbook/core/fault'
import type { RepeatDeps } from './repeat.ts'
import { startWatch, type Watch } from './watch.ts'

export interface SignerHealthDeps extends RepeatDeps {
  /** Rejects with a `Fault` if the signer does not answer. */
  readonly readStanding: () => Promise<{ readonly whyClosed: string | undefined }>
}

/**
 * Watches the signer. Without this check only callers would notice a missing signer, because they get no offers of x402
 * and MPP.
 */
export function startSignerHealth({ readStanding, ...deps }: SignerHealthDeps): Promise<Watch> {
  return startWatch(deps, {
    name: 'signer health',
    event: 'signer_health_changed',
    find: () =>
      readStanding().then(
        ({ whyClosed }) => ({ problem: whyClosed }),
        (error: unknown) => {
          if (!(error instanceof Fault)) throw error
          // Put the error only into the log, because it contains the socket's path and the problem is public.
          return { problem: error.message, error: describeError(error) }
        },
      ),
  })
}
