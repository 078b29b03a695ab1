import { systemClock } from '@tollbook/core/clock'
import { errorText, Fault } from '@tollbook/core/fault'
import type { SignerPlace } from '../config/signerConfig.ts'
import { createSignerClient } from '../signer/signerClient.ts'
import { readTlsIdentity } from '../signer/tlsIdentity.ts'
import { failed, passed, type Result, skipped, warning } from './check.ts'

const dayMs = 24 * 60 * 60 * 1000
// Days before the end of a certificate at which the check warns, so that there is time to renew it.
const renewBeforeDays = 14

/** Checks the certificates and the signer with a request for which the signer signs nothing. */
export async function checkSigner(place: SignerPlace | undefined): Promise<Result> {
  if (place === undefined)
    return skipped('neither SIGNER_SOCKET nor SIGNER_ADDRESS is set: no payments by x402 and MPP')
  const at = 'socketPath' in place ? place.socketPath : `${place.host}:${place.port}`
  try {
    const expiresAtMs = 'tls' in place ? (await readTlsIdentity(place.tls, systemClock.nowMs())).expiresAtMs : undefined
    const { address, whyClosed } = await createSignerClient({ address: place, clock: systemClock }).standing()
    if (whyClosed !== undefined) return warning(`${address} at ${at} signs nothing now: ${whyClosed}`, closedFix)
    const days = expiresAtMs === undefined ? undefined : Math.floor((expiresAtMs - systemClock.nowMs()) / dayMs)
    if (days !== undefined && days < renewBeforeDays)
      return warning(`a certificate of SIGNER_TLS_CERT or SIGNER_TLS_CA expires in ${days} days`, 'renew it in place')
    return passed(`${address} at ${at} signs network fees`)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return failed(`${errorText(error)} (${at}), so nothing is sold by x402 and MPP`, unreachableFix)
  }
}

const closedFix = 'see the log of `tollbook signer`, and its budgets in docs/x402.md'
const unreachableFix = 'start `tollbook signer`, and correct SIGNER_SOCKET, or SIGNER_ADDRESS and the SIGNER_TLS_ files'
