import {
  AccountLayout,
  AccountState,
  ExtensionType,
  getExtensionData,
  getTransferFeeConfig,
  unpackMint,
} from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { PaymentTerms } from '../payment/settlement.ts'
import { addressOfKey } from './accountStates.ts'
import { createNodeClient, type PostJson, type RpcClient } from './nodeClient.ts'

const dataJson = z.tuple([z.base64(), z.literal('base64')])
const programAccountsJson = z.object({
  context: z.object({ slot: z.int().min(0) }),
  value: z.array(z.object({ pubkey: z.string(), account: z.object({ data: dataJson }) })),
})
const mintJson = z.object({ value: z.object({ owner: z.string(), data: dataJson }) })

export interface HolderSource {
  readonly url: string
  readonly postJson: PostJson
}

/** All token accounts of the mint in one finalized slot, including empty and frozen accounts. */
export interface HeldTokens {
  readonly network: string
  readonly mint: Address
  readonly tokenProgram: Address
  readonly decimals: number
  readonly slot: number
  /** Accounts in ascending order of their addresses. */
  readonly accounts: readonly HeldAccount[]
}

interface HeldAccount {
  readonly address: Address
  readonly owner: Address
  readonly baseUnits: bigint
  readonly isFrozen: boolean
}

// Time limit of this query, for which a node reads every account of the token program.
const timeoutMs = 120_000

/**
 * Balances and withheld fees must sum to the supply, and each account must be returned once, so that a node that omits
 * an account is detected. The supply is read before and after the accounts, because burns may lower it meanwhile.
 */
export async function readHolders({ url, postJson }: HolderSource, terms: PaymentTerms): Promise<HeldTokens> {
  const rpc = createNodeClient({ url, postJson, timeoutMs, onCall: () => undefined })
  const { mint, tokenProgram, decimals, network } = terms
  const genesisHash = await rpc.call('getGenesisHash', [], z.string().min(32))
  if (network !== `solana:${genesisHash.slice(0, 32)}`) throw refused('the node is on another network')
  const beforeBaseUnits = await readSupply(rpc, terms)
  const options = {
    encoding: 'base64',
    commitment: 'finalized',
    withContext: true,
    filters: [{ memcmp: { offset: 0, bytes: mint } }],
  }
  const { context, value } = await rpc.call('getProgramAccounts', [tokenProgram, options], programAccountsJson)
  const afterBaseUnits = await readSupply(rpc, terms)
  const read = value.flatMap(({ pubkey, account }) => readAccount(pubkey, account.data[0]) ?? [])
  const sumBaseUnits = read.reduce(
    (sum, { account, withheldBaseUnits }) => sum + account.baseUnits + withheldBaseUnits,
    0n,
  )
  const [leastBaseUnits, mostBaseUnits] =
    beforeBaseUnits < afterBaseUnits ? [beforeBaseUnits, afterBaseUnits] : [afterBaseUnits, beforeBaseUnits]
  if (sumBaseUnits < leastBaseUnits || sumBaseUnits > mostBaseUnits)
    throw refused(
      `the token accounts of the node hold ${sumBaseUnits} base units, and the supply is ${beforeBaseUnits} before and ${afterBaseUnits} after: use another node`,
    )
  const accounts = read.map(({ account }) => account).toSorted((one, other) => (one.address < other.address ? -1 : 1))
  const twice = accounts.find(({ address }, index) => address === accounts[index + 1]?.address)
  if (twice !== undefined) throw refused(`the node has returned the account ${twice.address} twice: use another node`)
  return { network, mint, tokenProgram, decimals, slot: context.slot, accounts }
}

/** Returns the supply less the fees that the mint itself holds, because no token account has them. */
async function readSupply(rpc: RpcClient, { mint, tokenProgram }: PaymentTerms): Promise<bigint> {
  const { value } = await rpc.call('getAccountInfo', [mint, { encoding: 'base64', commitment: 'finalized' }], mintJson)
  const owner = new PublicKey(value.owner)
  if (value.owner !== tokenProgram) throw refused(`the mint belongs to ${value.owner}`)
  const info = { owner, data: Buffer.from(value.data[0], 'base64'), executable: false, lamports: 0 }
  const unpacked = unpackMint(new PublicKey(mint), info, owner)
  return unpacked.supply - (getTransferFeeConfig(unpacked)?.withheldAmount ?? 0n)
}

interface ReadAccount {
  readonly account: HeldAccount
  readonly withheldBaseUnits: bigint
}

const accountBytes = 165
// Account type in byte 165 of an account with extensions. 2 is a token account.
const tokenAccountType = 2

/** Undefined if the account is not an initialized token account. */
function readAccount(pubkey: string, base64: string): ReadAccount | undefined {
  const data = Buffer.from(base64, 'base64')
  const isTokenAccount = data.length === accountBytes || data[accountBytes] === tokenAccountType
  if (data.length < accountBytes || !isTokenAccount) return undefined
  const { amount, owner, state } = AccountLayout.decode(data.subarray(0, accountBytes))
  if (state === AccountState.Uninitialized) return undefined
  const fees = getExtensionData(ExtensionType.TransferFeeAmount, data.subarray(accountBytes + 1))
  return {
    account: {
      address: assertPresent(readAddress(pubkey), 'an account has an address'),
      owner: addressOfKey(owner),
      baseUnits: amount,
      isFrozen: state === AccountState.Frozen,
    },
    withheldBaseUnits: fees?.readBigUInt64LE() ?? 0n,
  }
}

function refused(message: string): Fault {
  return new Fault(message, { retryable: false })
}
