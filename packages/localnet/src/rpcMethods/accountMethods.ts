import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { type AccountStyle, accountJson, accountStyleShape } from '../accountJson.ts'
import type { Bank } from '../bank.ts'
import { parseMessage } from '../chainTransaction.ts'
import { feeLamports } from '../fee.ts'
import { accountFilters, matchesFilters } from '../programFilter.ts'
import {
  type RpcMethods,
  addressParam,
  configParam,
  contextConfig,
  contextSlot,
  inContext,
  rpcMethod,
  slotParam,
} from '../rpcMethod.ts'
import { decodeBase64, orInvalidParams } from '../wireParam.ts'

export const accountConfig = configParam(accountStyleShape)

const programConfig = configParam({
  ...accountStyleShape,
  filters: accountFilters.nullish(),
  withContext: z.boolean().nullish(),
  sortResults: z.boolean().nullish(),
})

/**
 * Reads of accounts. All of them answer from the newest state, whatever the commitment; see `Bank`. The commitment only
 * chooses the slot that the answer names.
 */
export function accountMethods(bank: Bank): RpcMethods {
  return {
    getBalance: rpcMethod(z.tuple([addressParam, contextConfig.optional()]), ([address, config]) =>
      inContext(contextSlot(bank, config), Number(bank.account(address)?.lamports ?? 0n)),
    ),
    getAccountInfo: rpcMethod(z.tuple([addressParam, accountConfig.optional()]), ([address, config]) =>
      inContext(contextSlot(bank, config), readAccountJson(bank, address, accountStyle(bank, config))),
    ),
    getMultipleAccounts: rpcMethod(
      z.tuple([z.array(addressParam).max(addressesMax), accountConfig.optional()]),
      ([addresses, config]) => {
        const style = accountStyle(bank, config, 'base64')
        const accounts = addresses.map((address) => readAccountJson(bank, address, style))
        return inContext(contextSlot(bank, config), accounts)
      },
    ),
    getProgramAccounts: rpcMethod(z.tuple([addressParam, programConfig.optional()]), ([program, config]) =>
      programAccounts(bank, program, config),
    ),
    getMinimumBalanceForRentExemption: rpcMethod(
      z.tuple([slotParam.max(accountBytesMax), contextConfig.optional()]),
      ([length]) => Number(bank.rentExemptLamports(length)),
    ),
    getFeeForMessage: rpcMethod(z.tuple([z.string(), contextConfig.optional()]), ([text, config]) => {
      const message = orInvalidParams('invalid transaction message', () => parseMessage(decodeBase64(text)))
      return inContext(contextSlot(bank, config), Number(feeLamports(message)))
    }),
  }
}

type AccountConfig = z.output<typeof accountConfig>
type ProgramConfig = z.output<typeof programConfig>

/** Without an encoding a node answers in plain base58, the oldest form; only `getMultipleAccounts` says base64. */
export function accountStyle(
  bank: Bank,
  config: AccountConfig,
  fallback: AccountStyle['encoding'] = 'binary',
): AccountStyle {
  const read = (address: Uint8Array) => bank.account(address)
  return { encoding: config?.encoding ?? fallback, dataSlice: config?.dataSlice, read }
}

function readAccountJson(bank: Bank, address: Uint8Array, style: AccountStyle): Json {
  const state = bank.account(address)
  return state === undefined ? null : accountJson(state, style)
}

/** Reads every account of the program: about 8 µs each, so 10,000 of them hold the chain for 80 ms. */
function programAccounts(bank: Bank, program: Uint8Array, config: ProgramConfig): Json {
  const style = accountStyle(bank, config)
  const found: Json[] = []
  for (const { address, state } of bank.accountsOwnedBy(program)) {
    if (state === undefined || !matchesFilters(state.data, config?.filters ?? [])) continue
    found.push({ pubkey: encodeBase58(address), account: accountJson(state, style) })
  }
  const slot = contextSlot(bank, config)
  return config?.withContext === true ? inContext(slot, found) : found
}

/** A node's limit. */
const addressesMax = 100
/** Ten mebibytes, the most an account can hold. */
const accountBytesMax = 10 * 1024 * 1024
