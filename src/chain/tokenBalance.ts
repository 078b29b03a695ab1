import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import type { Address } from '@tollbook/core/address'
import type { Balance, BalanceQuestion } from '../payment/chainReader.ts'
import type { Commitment } from './commitment.ts'
import { callNode, type RotationDeps } from './rpcClient.ts'

// The amount follows the mint and the owner in a token account.
const amountSlice = { offset: 64, length: 8 }
// Base64 of exactly 8 bytes. The length detects a node that ignores the slice, whose first bytes would be the mint's
// address.
const amountBase64 = z.base64().length(12)
const tokenAccountsJson = z
  .object({
    context: z.object({ slot: z.int().min(0) }),
    value: z.array(z.object({ account: z.object({ data: z.tuple([amountBase64, z.literal('base64')]) }) })),
  })
  .transform(({ context, value }) => ({
    slot: context.slot,
    baseUnits: value.reduce((sum, { account }) => sum + amountOf(account.data[0]), 0n),
  }))

interface Asked extends Omit<BalanceQuestion, 'commitment'> {
  readonly mint: Address
  readonly commitment?: Commitment
}

/**
 * Returns the first balance that is at least `enoughBaseUnits`. If there is none, returns the newest balance after
 * every node was queried.
 */
export async function readTokenBalance(
  deps: RotationDeps,
  { wallet, mint, minSlot = 0, commitment = 'confirmed', enoughBaseUnits = 0n }: Asked,
): Promise<Balance> {
  const options = { encoding: 'base64', commitment, dataSlice: amountSlice, minContextSlot: minSlot }
  const params = [wallet, { mint }, options]
  let newest: Omit<Balance, 'isAgreed'> | undefined
  let answers = 0
  let lastError: unknown
  for (const node of deps.nodes.candidates()) {
    try {
      const found = await callNode(deps, node, {
        method: 'getTokenAccountsByOwner',
        params,
        result: tokenAccountsJson,
      })
      if (found.baseUnits >= enoughBaseUnits) return { ...found, isAgreed: true }
      answers += 1
      if (newest === undefined || found.slot > newest.slot) newest = found
    } catch (error) {
      lastError = error
    }
  }
  if (newest !== undefined) return { ...newest, isAgreed: answers >= deps.nodes.agreeingMin }
  throw new Fault('no Solana node answered getTokenAccountsByOwner usably', { cause: lastError, retryable: true })
}

function amountOf(base64: string): bigint {
  return Buffer.from(base64, 'base64').readBigUInt64LE()
}
