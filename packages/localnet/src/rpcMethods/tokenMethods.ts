import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { accountJson } from '../accountJson.ts'
import type { Bank } from '../bank.ts'
import { sameBytes } from '../byteKey.ts'
import { isTokenProgram } from '../programs.ts'
import { invalidParams } from '../rpcError.ts'
import { type RpcMethods, addressParam, contextConfig, contextSlot, inContext, rpcMethod } from '../rpcMethod.ts'
import { type Mint, parseMint, parseTokenAccount } from '../tokenAccount.ts'
import { tokenAmountJson } from '../tokenAmount.ts'
import { accountConfig, accountStyle } from './accountMethods.ts'

const tokenFilter = z.union([z.object({ mint: addressParam }), z.object({ programId: addressParam })])

/**
 * Reads of token accounts and mints, of both token programs. They are answered from an index, so their cost depends on
 * what is found and not on how many token accounts the chain has. Refusals are worded as Agave words them.
 */
export function tokenMethods(bank: Bank): RpcMethods {
  const addressAndContext = z.tuple([addressParam, contextConfig.optional()])
  return {
    getTokenAccountsByOwner: rpcMethod(
      z.tuple([addressParam, tokenFilter, accountConfig.optional()]),
      ([owner, filter, config]) => {
        const style = accountStyle(bank, config)
        const found = tokenAccountsOf(bank, owner, filter).map(({ address, state }) => ({
          pubkey: encodeBase58(address),
          account: accountJson(state, style),
        }))
        return inContext(contextSlot(bank, config), found)
      },
    ),
    getTokenAccountBalance: rpcMethod(addressAndContext, ([address, config]) =>
      inContext(contextSlot(bank, config), tokenAccountBalance(bank, address)),
    ),
    getTokenSupply: rpcMethod(addressAndContext, ([address, config]) => {
      const mint = mintAt(bank, address)
      return inContext(contextSlot(bank, config), tokenAmountJson(mint.supply, mint.decimals))
    }),
    getTokenLargestAccounts: rpcMethod(addressAndContext, ([address, config]) =>
      inContext(contextSlot(bank, config), largestAccounts(bank, address)),
    ),
  }
}

type TokenFilter = z.output<typeof tokenFilter>

function tokenAccountsOf(bank: Bank, owner: Uint8Array, filter: TokenFilter) {
  if ('programId' in filter && !isTokenProgram(filter.programId)) {
    throw invalidParams('Invalid param: unrecognized Token program id')
  }
  // A mint that does not exist is a mistake and not an empty answer.
  if ('mint' in filter) mintAt(bank, filter.mint)
  return bank.tokenAccounts
    .ofOwner(owner)
    .map((address) => ({ address, state: assertPresent(bank.account(address), 'an indexed account exists') }))
    .filter(({ state }) => {
      if ('programId' in filter) return sameBytes(state.owner, filter.programId)
      // A token account starts with its mint.
      return sameBytes(state.data.subarray(0, 32), filter.mint)
    })
}

function tokenAccountBalance(bank: Bank, address: Uint8Array): Json {
  const state = bank.account(address)
  if (state === undefined) throw invalidParams('Invalid param: could not find account')
  const account = parseTokenAccount(state)
  if (account === undefined) throw invalidParams('Invalid param: not a Token account')
  return tokenAmountJson(account.amount, mintAt(bank, account.mint).decimals)
}

/** Without its mint an amount has no decimals, so it cannot be shown. */
function mintAt(bank: Bank, address: Uint8Array): Mint {
  const state = bank.account(address)
  if (state === undefined) throw invalidParams('Invalid param: could not find mint')
  const mint = parseMint(state)
  if (mint === undefined) throw invalidParams('Invalid param: not a Token mint')
  return mint
}

function largestAccounts(bank: Bank, mintAddress: Uint8Array): Json {
  const { decimals } = mintAt(bank, mintAddress)
  const balances = bank.tokenAccounts.ofMint(mintAddress).map((address) => {
    const state = assertPresent(bank.account(address), 'an indexed account exists')
    return { address, amount: assertPresent(parseTokenAccount(state), 'an indexed account holds tokens').amount }
  })
  return (
    balances
      // Only the sign counts, and a bigint keeps it when it becomes a number.
      .sort((one, other) => Number(other.amount - one.amount))
      .slice(0, largestMax)
      .map(({ address, amount }) => ({ address: encodeBase58(address), ...tokenAmountJson(amount, decimals) }))
  )
}

/** A node's limit. */
const largestMax = 20
