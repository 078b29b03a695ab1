import {
  AccountState,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getDefaultAccountState,
  getExtensionTypes,
  getTransferFeeConfig,
  type Mint,
  MINT_SIZE,
  NATIVE_MINT,
  NATIVE_MINT_2022,
  unpackMint,
} from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import type { Address } from '@tollbook/core/address'
import { tokenPrograms } from '@tollbook/core/programs'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransferFee } from '@tollbook/core/transferFee'
import { addressOfKey } from './accountStates.ts'
import type { RpcClient } from './nodeClient.ts'

export interface TermsQuestion {
  readonly mint: Address
  readonly paymentWallet: Address
  /** Messages refer to this setting. Default: `TOKEN_MINT`. */
  readonly setting?: string
}

/** Extensions with which payments can fail, or can prove less than they show. */
const refusedExtensions = new Map<ExtensionType, string>([
  [ExtensionType.TransferHook, 'a transfer hook can make any transfer fail or do more than it says'],
  [ExtensionType.ConfidentialTransferMint, 'confidential transfers hide the amounts that a payment has to show'],
  [ExtensionType.PausableConfig, 'a pausable mint lets its authority stop every payment'],
  [ExtensionType.NonTransferable, 'a non-transferable token cannot be paid with'],
  [
    ExtensionType.PermissionedBurn,
    'burning it needs the permission of an authority, so payers cannot burn by themselves',
  ],
])

/**
 * Extensions that do not change what a payment proves. Net amounts account for the fee and the permanent delegate (rule
 * 4).
 */
const harmlessExtensions: ReadonlySet<ExtensionType> = new Set([
  ExtensionType.TransferFeeConfig,
  ExtensionType.MintCloseAuthority,
  ExtensionType.DefaultAccountState,
  ExtensionType.InterestBearingConfig,
  ExtensionType.PermanentDelegate,
  ExtensionType.MetadataPointer,
  ExtensionType.TokenMetadata,
  ExtensionType.GroupPointer,
  ExtensionType.TokenGroup,
  ExtensionType.GroupMemberPointer,
  ExtensionType.TokenGroupMember,
  ExtensionType.ScaledUiAmountConfig,
])

const accountJson = z.object({
  value: z
    .object({
      owner: z.string(),
      lamports: z.number(),
      executable: z.boolean(),
      data: z.tuple([z.base64(), z.literal('base64')]),
    })
    .nullable(),
})

/** The fee is separate because it may change later; `PaymentTerms` reads it through a function. */
export interface TermsReading {
  readonly terms: Omit<PaymentTerms, 'transferFee'>
  /** The highest fee that is in effect or announced. */
  readonly transferFee: TransferFee | undefined
}

/** Refuses a mint with which payments can fail or cannot be proven. */
export async function readPaymentTerms(
  rpc: RpcClient,
  { setting = 'TOKEN_MINT', ...question }: TermsQuestion,
): Promise<TermsReading> {
  const mintName = `${setting} ${question.mint}`
  const options = { encoding: 'base64', commitment: 'confirmed' }
  const { value } = await rpc.call('getAccountInfo', [question.mint, options], accountJson)
  if (value === null) throw misconfigured(`${mintName} does not exist on this chain`)
  if (!tokenPrograms.has(value.owner))
    throw misconfigured(`${mintName} is not owned by a token program but by ${value.owner}`)

  const program = new PublicKey(value.owner)
  const mint = readMint(question.mint, mintName, { owner: program, data: Buffer.from(value.data[0], 'base64') })
  const [why = whyUnburnable(mint) ?? whyFrozen(mint)] = getExtensionTypes(mint.tlvData).flatMap(
    (extension) => whyRefused(extension) ?? [],
  )
  if (why !== undefined) throw misconfigured(`${mintName} cannot be used: ${why}`)
  const wallet = new PublicKey(question.paymentWallet)
  const tokenAccount = getAssociatedTokenAddressSync(mint.address, wallet, true, program)
  const genesisHash = await rpc.call('getGenesisHash', [], z.string().min(32))
  const terms = {
    ...question,
    decimals: mint.decimals,
    tokenProgram: addressOfKey(program),
    paymentTokenAccount: addressOfKey(tokenAccount),
    network: `solana:${genesisHash.slice(0, 32)}`,
  }
  return { terms, transferFee: await readTransferFee(rpc, mint) }
}

/**
 * Undefined for a harmless extension. An unknown extension is refused, because it might change the effect of a transfer
 * or a burn.
 */
function whyRefused(extension: ExtensionType): string | undefined {
  if (harmlessExtensions.has(extension)) return undefined
  return refusedExtensions.get(extension) ?? `its extension ${extension} is not known to this program`
}

/**
 * Explains why the token cannot be burned. A part of each payment in the service token is burned, and both token
 * programs refuse to burn wrapped SOL.
 */
function whyUnburnable({ address }: Mint): string | undefined {
  return address.equals(NATIVE_MINT) || address.equals(NATIVE_MINT_2022)
    ? 'it is wrapped SOL, whose tokens cannot be burned'
    : undefined
}

/** Explains why new token accounts of the mint can neither pay nor be paid: each is frozen until an authority thaws it. */
function whyFrozen(mint: Mint): string | undefined {
  return getDefaultAccountState(mint)?.state === AccountState.Frozen
    ? 'its new token accounts are frozen, so payers cannot pay and the payment wallet cannot be paid'
    : undefined
}

function readMint(
  address: Address,
  mintName: string,
  account: { readonly owner: PublicKey; readonly data: Buffer },
): Mint {
  try {
    if (account.data.length < MINT_SIZE) throw new Error(`${account.data.length} bytes are too few for a mint`)
    const info = { ...account, executable: false, lamports: 0, rentEpoch: 0 }
    const mint = unpackMint(new PublicKey(address), info, account.owner)
    if (!mint.isInitialized) throw new Error('it is not initialized')
    return mint
  } catch (error) {
    throw misconfigured(`${mintName} is not a mint`, error)
  }
}

/**
 * Uses the highest rate and the highest maximum of the fees that are in effect or announced, so that a quote stays
 * sufficient when the epoch changes.
 */
async function readTransferFee(rpc: RpcClient, mint: Mint): Promise<TransferFee | undefined> {
  const config = getTransferFeeConfig(mint)
  if (config === null) return undefined
  const { epoch } = await rpc.call('getEpochInfo', [], z.object({ epoch: z.int() }))
  const { olderTransferFee: older, newerTransferFee: newer } = config
  const scheduled = BigInt(epoch) >= newer.epoch ? [newer] : [older, newer]
  const basisPoints = Math.max(...scheduled.map((fee) => fee.transferFeeBasisPoints))
  const maximumBaseUnits = scheduled.map((fee) => fee.maximumFee).reduce((most, fee) => (fee > most ? fee : most), 0n)
  return basisPoints === 0 ? undefined : { basisPoints, maximumBaseUnits }
}

/** Creates a fault that is not retryable, because only another configuration fixes the problem. */
function misconfigured(message: string, cause?: unknown): Fault {
  return new Fault(message, { cause, retryable: false })
}
