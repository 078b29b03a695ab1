import { readBase64 } from '@tollbook/core/base64'
import type { Clock } from '@tollbook/core/clock'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import { type PayerSigned, type SponsorProblem, sponsorProblems } from '../../payment/sponsoredTransaction.ts'
import type { OrderRequest, Presented } from '../../paywall/rail.ts'
import { presentSponsored, type SponsoredProof } from '../sponsored/sponsoredProof.ts'
import { type MppChallengeDeps, digestOf } from './challenge.ts'
import { boundText, credentialHeader, intent, method, type MppChallenge, readCredential } from './wire.ts'

export interface MppReadDeps extends Pick<MppChallengeDeps, 'isAuthentic'> {
  readonly clock: Clock
  readonly readPayerSigned: (bytes: Uint8Array) => PayerSigned | SponsorProblem
}

export function readPayment(deps: MppReadDeps, request: OrderRequest): Presented<SponsoredProof> | Refusal {
  const credential = readCredential(request.header(credentialHeader) ?? '')
  if (credential === undefined) return refuseProof('malformed_credential')
  const { challenge, payload, secret, priceList } = credential
  if (challenge.method !== method || challenge.intent !== intent)
    return refuseProof('challenge_invalid', `only ${method}/${intent} is offered`)
  if (payload.type !== 'transaction')
    return refuseProof('malformed_credential', 'the payload must be of type `transaction`: the service sends it')
  const bytes = readBase64(payload.transaction ?? '')
  const signed = bytes === undefined ? 'malformed' : deps.readPayerSigned(bytes)
  if (typeof signed === 'string') return refuseSponsor(signed)
  const rules = { refuseOffer: () => refuseChallenge(deps, request, challenge), refuseSponsor }
  return presentSponsored({ rail: 'mpp', signed, secret, priceList, rules })
}

function refuseSponsor(problem: SponsorProblem): Refusal {
  return refuseProof('not_sponsored', sponsorProblems[problem])
}

function refuseChallenge(
  { isAuthentic, clock }: MppReadDeps,
  request: OrderRequest,
  challenge: MppChallenge,
): Refusal | undefined {
  if (!isAuthentic(boundText(challenge), challenge.id))
    return refuseProof('challenge_invalid', 'its id is not that of its other parameters')
  if (clock.nowMs() > Date.parse(challenge.expires))
    return refuseProof('challenge_expired', `it expired at ${challenge.expires}`)
  return challenge.digest === digestOf(request)
    ? undefined
    : refuseProof('challenge_invalid', 'it was made for another body; repeat the request byte for byte')
}
