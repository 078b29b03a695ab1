import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { type AccountStyle, accountJson, accountStyleShape } from '../accountJson.ts'
import type { AccountState } from '../svm.ts'
import type { BankState } from '../bankState.ts'
import type { ChainNode } from '../chainNode.ts'
import { accountFilters, matchesFilters } from '../programFilter.ts'
import {
  type RpcMethods,
  addressParam,
  configParam,
  contextConfig,
  contextState,
  inContext,
  rpcMethod,
  slotParam,
} from '../rpcMethod.ts'

export const accountConfig = configParam(accountStyleShape)

const programConfig = configParam({
  ...accountStyleShape,
  filters: accountFilters.nullish(),
  withContext: z.boolean().nullish(),
  sortResults: z.boolean().nullish(),
})

export function accountMethods(node: ChainNode): RpcMethods {
  return {
    getBalance: rpcMethod(z.tuple([addressParam, contextConfig.optional()]), ([address, config]) => {
      const state = contextState(node, config)
      return inContext(state.slot, Number(state.account(address)?.lamports ?? 0n))
    }),
    getAccountInfo: rpcMethod(z.tuple([addressParam, accountConfig.optional()]), ([address, config]) => {
      const state = contextState(node, config)
      return inContext(state.slot, accountOrNull(state.account(address), config))
    }),
    getMultipleAccounts: rpcMethod(
      z.tuple([z.array(addressParam).max(addressesMax), accountConfig.optional()]),
      ([addresses, config]) => {
        const state = contextState(node, config)
        // Use base64 by default, as nodes do for this method.
        const style = { ...config, encoding: config?.encoding ?? 'base64' }
        const accounts = addresses.map((address) => accountOrNull(state.account(address), style))
        return inContext(state.slot, accounts)
      },
    ),
    getProgramAccounts: rpcMethod(z.tuple([addressParam, programConfig.optional()]), ([program, config]) =>
      programAccounts(contextState(node, config), program, config),
    ),
    getMinimumBalanceForRentExemption: rpcMethod(
      z.tuple([slotParam.max(accountBytesMax), contextConfig.optional()]),
      ([length]) => Number(node.bank.rentExemptLamports(length)),
    ),
  }
}

type ProgramConfig = z.output<typeof programConfig>

function accountOrNull(account: AccountState | undefined, style: AccountStyle | null | undefined): Json {
  return account === undefined ? null : accountJson(account, style)
}

function programAccounts(accounts: BankState, program: Uint8Array, config: ProgramConfig): Json {
  const found: Json[] = []
  for (const { address, state } of accounts.accountsOwnedBy(program)) {
    if (state === undefined || !matchesFilters(state.data, config?.filters ?? [])) continue
    found.push({ pubkey: encodeBase58(address), account: accountJson(state, config) })
  }
  return config?.withContext === true ? inContext(accounts.slot, found) : found
}

/** Maximum number of addresses in one request, as on a real node. */
const addressesMax = 100
/** 10 MiB, the maximum size of an account. */
const accountBytesMax = 10 * 1024 * 1024
