import type { Failure, HandlerFailure } from '../product/product.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'

const codes: Partial<Record<UpstreamFailure['kind'], HandlerFailure>> = {
  not_found: 'NO_DATA',
  timeout: 'UPSTREAM_TIMEOUT',
}

/** Describes a failure of the upstream without quoting its answer, which may contain anything. Rethrows other errors. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof UpstreamFailure)) throw error
  const { kind } = error
  const code = codes[kind] ?? 'UPSTREAM_FAILED'
  return { kind: 'failed', code, message: `${messages[kind]}; repeat with the same proof` }
}

const messages: Readonly<Record<UpstreamFailure['kind'], string>> = {
  not_found: 'the API behind this product has no answer for this request',
  not_covered: 'the API behind this product has no answer for this request',
  rate_limited: 'the API behind this product asks for a pause',
  auth: 'the API behind this product refused the service',
  blocked: 'the API behind this product refused the service',
  incomplete: 'the API behind this product gave an answer that cannot be sold',
  bad_payload: 'the API behind this product gave an answer that cannot be sold',
  upstream: 'the API behind this product failed',
  timeout: 'the API behind this product did not answer in time',
  resting: 'the API behind this product has failed and is left alone for a while',
}
