import { getMemoTransfer, unpackAccount } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { tokenPrograms } from '@tollbook/core/programs'
import type { Commitment } from './commitment.ts'
import { refusalIsFault } from './rpcClient.ts'
import type { RpcClient } from './nodeClient.ts'

export interface ChainAccount {
  readonly lamports: bigint
  /** Undefined if the account is not an initialized token account. */
  readonly token: TokenAccount | undefined
}

export interface TokenAccount {
  readonly mint: Address
  /** Wallet that may spend from the account. The owner of an SPL Token account can give the account to another wallet. */
  readonly owner: Address
  readonly baseUnits: bigint
  readonly isFrozen: boolean
  /** Token-2022 accounts can require a memo in front of each transfer to them. */
  readonly requiresMemo: boolean
  readonly delegate: Address | undefined
  readonly allowanceBaseUnits: bigint
}

export interface AccountsQuestion {
  readonly addresses: readonly Address[]
  readonly commitment: Commitment
  /** The node must answer from this slot or a later one. */
  readonly minSlot: number
}

const accountJson = z.object({
  lamports: z.int().min(0).transform(BigInt),
  owner: z.string(),
  data: z.tuple([z.base64(), z.literal('base64')]),
})

// Limit of `getMultipleAccounts` per call.
const accountsMax = 100

/**
 * Keeps the order of the addresses. Each group of 100 addresses is from one slot. Undefined for an address without an
 * account.
 */
export async function readAccounts(
  rpc: RpcClient,
  { addresses, ...state }: AccountsQuestion,
): Promise<readonly (ChainAccount | undefined)[]> {
  const states: (ChainAccount | undefined)[] = []
  for (let from = 0; from < addresses.length; from += accountsMax)
    states.push(...(await readSome(rpc, { addresses: addresses.slice(from, from + accountsMax), ...state })))
  return states
}

async function readSome(
  rpc: RpcClient,
  { addresses, commitment, minSlot }: AccountsQuestion,
): Promise<readonly (ChainAccount | undefined)[]> {
  const result = z.object({ value: z.array(accountJson.nullable()).length(addresses.length) })
  const options = { encoding: 'base64', commitment, minContextSlot: minSlot }
  const { value } = await refusalIsFault(rpc.call('getMultipleAccounts', [addresses, options], result))
  return value.map((account, index) => {
    if (account === null) return undefined
    const address = assertPresent(addresses[index], 'each address is answered')
    return { lamports: account.lamports, token: readToken(address, account) }
  })
}

function readToken(
  address: Address,
  { owner, data: [base64] }: z.output<typeof accountJson>,
): TokenAccount | undefined {
  if (!tokenPrograms.has(owner)) return undefined
  const info = { owner: new PublicKey(owner), data: Buffer.from(base64, 'base64'), executable: false, lamports: 0 }
  try {
    const account = unpackAccount(new PublicKey(address), info, info.owner)
    if (!account.isInitialized) return undefined
    return {
      mint: addressOfKey(account.mint),
      owner: addressOfKey(account.owner),
      baseUnits: account.amount,
      isFrozen: account.isFrozen,
      requiresMemo: getMemoTransfer(account)?.requireIncomingTransferMemos === true,
      delegate: account.delegate === null ? undefined : addressOfKey(account.delegate),
      allowanceBaseUnits: account.delegatedAmount,
    }
  } catch {
    // Ignore other accounts of the token program, such as mints and multisigs.
    return undefined
  }
}

export function addressOfKey(key: PublicKey): Address {
  return assertPresent(readAddress(key.toBase58()), 'a public key is an address')
}
