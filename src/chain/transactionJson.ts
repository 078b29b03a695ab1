import { z } from 'zod'

/*
 * The parts of `getTransaction` (encoding "json") that this service reads. Required parts must be present: an answer
 * without inner instructions or token balances is not valid (docs/verification.md, rule 1).
 */

const index = z.int().min(0).max(255)

const instruction = z.object({ programIdIndex: index, accounts: z.array(index), data: z.string() })

const innerInstructionsJson = z.object({ index, instructions: z.array(instruction) })

export const tokenBalanceJson = z.object({
  accountIndex: index,
  mint: z.string(),
  owner: z.string(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d{1,20}$/) }),
})

export const loadedAddressesJson = z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) })

const lookupJson = z.object({
  accountKey: z.string(),
  writableIndexes: z.array(index),
  readonlyIndexes: z.array(index),
})

export const transactionJson = z
  .object({
    slot: z.int().min(0),
    blockTime: z.int().nullable().optional(),
    version: z.union([z.literal('legacy'), z.int().min(0)]).optional(),
    transaction: z.object({
      signatures: z.array(z.string()).min(1),
      message: z.object({
        header: z.object({
          numRequiredSignatures: index,
          numReadonlySignedAccounts: index,
          numReadonlyUnsignedAccounts: index,
        }),
        accountKeys: z.array(z.string()).min(1),
        recentBlockhash: z.string().optional(),
        instructions: z.array(instruction),
        addressTableLookups: z.array(lookupJson).nullable().optional(),
      }),
    }),
    meta: z.object({
      err: z.unknown(),
      innerInstructions: z.array(innerInstructionsJson),
      preTokenBalances: z.array(tokenBalanceJson),
      postTokenBalances: z.array(tokenBalanceJson),
      loadedAddresses: loadedAddressesJson.optional(),
    }),
  })
  // Require loaded addresses except in the legacy format, which has no lookup tables. Missing addresses would shift
  // every later index.
  .refine(({ version, meta }) => meta.loadedAddresses !== undefined || version === undefined || version === 'legacy', {
    path: ['meta', 'loadedAddresses'],
    message: 'must be present',
  })
  // Check the number of loaded addresses, because a wrong number would also shift every later index.
  .refine(
    ({ transaction, meta }) => hasAllLoaded(transaction.message.addressTableLookups ?? [], meta.loadedAddresses),
    {
      path: ['meta', 'loadedAddresses'],
      message: 'must have as many addresses as the lookups of the message',
    },
  )

export type TransactionJson = z.infer<typeof transactionJson>
export type InstructionJson = z.infer<typeof instruction>
export type TokenBalanceJson = z.infer<typeof tokenBalanceJson>

/**
 * True if `loaded` has one address for each index of the lookups. A legacy message has no lookups, so `loaded` may be
 * absent.
 */
export function hasAllLoaded(
  lookups: readonly Pick<z.infer<typeof lookupJson>, 'writableIndexes' | 'readonlyIndexes'>[],
  loaded: z.infer<typeof loadedAddressesJson> | undefined,
): boolean {
  const [writable, readonly] = [loaded?.writable ?? [], loaded?.readonly ?? []]
  return (
    writable.length === lookups.reduce((count, lookup) => count + lookup.writableIndexes.length, 0) &&
    readonly.length === lookups.reduce((count, lookup) => count + lookup.readonlyIndexes.length, 0)
  )
}
