import { Fault } from '@tollbook/core/fault'
import type * as LocalMode from './localMode.ts'

const advice =
  'set DATABASE_URL, SOLANA_RPC_URLS and RECEIPT_SIGNING_KEY, or install @tollbook/localnet and @tollbook/sandbox (in the repository: `npm ci`): local mode needs an embedded Postgres and a local chain, which a production installation leaves out'

/** Loads local mode only when it is started, because a production installation lacks its packages. */
export async function loadLocalMode(): Promise<typeof LocalMode> {
  try {
    return await import('./localMode.ts')
  } catch (cause) {
    if (!isMissingPackage(cause)) throw cause
    throw new Fault(advice, { cause, retryable: false })
  }
}

function isMissingPackage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
