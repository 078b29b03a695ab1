import { readPayerSigned } from '../../chain/sponsoredTransaction.ts'
import type { X402Config } from '../../config/signerConfig.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import { startSignerHealth } from '../../jobs/signerHealth.ts'
import { Fault } from '@tollbook/core/fault'
import { createSignerClient } from '../../signer/signerClient.ts'
import { readTlsIdentity } from '../../signer/tlsIdentity.ts'
import type { PartDeps } from '../partDeps.ts'

export type SignerPart = Awaited<ReturnType<typeof openSignerPart>>

/**
 * Opens the client of the signer. It does not wait for the signer's answer, because the native rail sells without the
 * signer. TLS files that can never work are a mistake of the configuration, and throw. An expired certificate only
 * makes the health check fail.
 */
export async function openSignerPart(x402: X402Config | undefined, deps: PartDeps) {
  if (x402 === undefined) return { feePayer: undefined, checks: [], recordAbsent: done, close: done }
  const { clock, log, metrics } = deps
  await requireFiles(x402.signer, clock.nowMs())
  const feePayer = createSignerClient({ address: x402.signer, clock, onBudget: metrics.onSignerBudget })
  const health = await startSignerHealth({ clock, log, readStanding: feePayer.standing })
  const check: HealthCheck = { name: 'signer', problem: health.problem, someProductsOnly: true }
  /** Reports a transaction that can no longer land. It costs nothing, so the signer must not count it as failed. */
  async function recordAbsent(bytes: Uint8Array): Promise<void> {
    const signed = readPayerSigned(bytes)
    // A transaction of another form was not signed by the fee payer.
    if (typeof signed !== 'string') await feePayer.recordOutcome(signed.digest, 'absent')
  }
  return { feePayer, checks: [check], recordAbsent, close: health.stop }
}

const done = () => Promise.resolve()

async function requireFiles(place: X402Config['signer'], nowMs: number): Promise<void> {
  if (!('tls' in place)) return
  try {
    await readTlsIdentity(place.tls, nowMs)
  } catch (error) {
    if (!(error instanceof Fault && error.retryable)) throw error
  }
}
