import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { accountJson } from '../accountJson.ts'
import type { BankState } from '../bankState.ts'
import type { ChainNode } from '../chainNode.ts'
import { sameBytes } from '../byteKey.ts'
import { isTokenProgram } from '../programs.ts'
import { invalidParams } from '../rpcError.ts'
import { type RpcMethods, addressParam, contextConfig, contextState, inContext, rpcMethod } from '../rpcMethod.ts'
import { type Mint, parseMint, parseTokenAccount } from '../tokenAccount.ts'
import { tokenAmountJson } from '../tokenAmount.ts'
import { accountConfig } from './accountMethods.ts'

const tokenFilter = z.union([z.object({ mint: addressParam }), z.object({ programId: addressParam })])

/**
 * `getTokenAccountsByOwner` uses an index, so the time depends on the number of the owner's accounts, not of all token
 * accounts. Error messages are those of Agave.
 */
export function tokenMethods(node: ChainNode): RpcMethods {
  const addressAndContext = z.tuple([addressParam, contextConfig.optional()])
  return {
    getTokenAccountsByOwner: rpcMethod(
      z.tuple([addressParam, tokenFilter, accountConfig.optional()]),
      ([owner, filter, config]) => {
        const state = contextState(node, config)
        const found = tokenAccountsOf(state, owner, filter).map((account) => ({
          pubkey: encodeBase58(account.address),
          account: accountJson(account.state, config),
        }))
        return inContext(state.slot, found)
      },
    ),
    getTokenAccountBalance: rpcMethod(addressAndContext, ([address, config]) => {
      const state = contextState(node, config)
      return inContext(state.slot, tokenAccountBalance(state, address))
    }),
    getTokenSupply: rpcMethod(addressAndContext, ([address, config]) => {
      const state = contextState(node, config)
      const mint = mintAt(state, address)
      return inContext(state.slot, tokenAmountJson(mint.supply, mint.decimals))
    }),
  }
}

type TokenFilter = z.output<typeof tokenFilter>

function tokenAccountsOf(state: BankState, owner: Uint8Array, filter: TokenFilter) {
  if ('programId' in filter && !isTokenProgram(filter.programId)) {
    throw invalidParams('Invalid param: unrecognized Token program id')
  }
  // Throw for a missing mint, as a node does, instead of returning an empty list.
  if ('mint' in filter) mintAt(state, filter.mint)
  return state
    .tokenAccountsOf(owner)
    .map((account) => ({ address: account.address, state: assertPresent(account.state, 'a listed account exists') }))
    .filter((account) => {
      if ('programId' in filter) return sameBytes(account.state.owner, filter.programId)
      // The first 32 bytes of a token account are its mint.
      return sameBytes(account.state.data.subarray(0, 32), filter.mint)
    })
}

function tokenAccountBalance(state: BankState, address: Uint8Array): Json {
  const found = state.account(address)
  if (found === undefined) throw invalidParams('Invalid param: could not find account')
  const account = parseTokenAccount(found)
  if (account === undefined) throw invalidParams('Invalid param: not a Token account')
  return tokenAmountJson(account.amount, mintAt(state, account.mint).decimals)
}

/** Throws if the account is missing or is not a mint. */
function mintAt(state: BankState, address: Uint8Array): Mint {
  const found = state.account(address)
  if (found === undefined) throw invalidParams('Invalid param: could not find mint')
  const mint = parseMint(found)
  if (mint === undefined) throw invalidParams('Invalid param: not a Token mint')
  return mint
}
