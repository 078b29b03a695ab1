import { sha256 } from '@tollbook/core/digest'
import type { OrderRequest } from '../../src/paywall/rail.ts'

export interface RequestFacts {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A request as a rail sees it. */
export function requestOf({ headers = {}, body }: RequestFacts = {}): OrderRequest {
  return {
    mount: undefined,
    method: 'POST',
    target: '/api/tools/qrcode',
    header: (name) => headers[name],
    bodyDigest: () => (body === undefined ? undefined : sha256(body)),
  }
}
