import type { X402Settings } from '../../config/signerSettings.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import { startSignerHealth } from '../../jobs/signerHealth.ts'
import type { FeePayer } from '../../rails/sponsored/feePayer.ts'
import { createSignerClient } from '../../signer/signerClient.ts'
import type { PartDeps } from '../partDeps.ts'

/** The signer of x402 and MPP, which is another process. */
export interface SignerPart {
  /** Undefined: nothing is offered by x402 or MPP. */
  readonly feePayer: FeePayer | undefined
  readonly checks: readonly HealthCheck[]
  close(): Promise<void>
}

/** Does not wait for the signer to answer: the native rail sells without it. */
export async function openSignerPart(x402: X402Settings | undefined, deps: PartDeps): Promise<SignerPart> {
  if (x402 === undefined) return { feePayer: undefined, checks: [], close: () => Promise.resolve() }
  const { clock, log, metrics } = deps
  const feePayer = createSignerClient({ socketPath: x402.signerSocket, clock, onBudget: metrics.onSignerBudget })
  const health = await startSignerHealth({ clock, log, readStanding: feePayer.standing })
  const check: HealthCheck = { name: 'signer', problem: health.problem, someProductsOnly: true }
  return { feePayer, checks: [check], close: health.stop }
}
