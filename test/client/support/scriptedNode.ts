import { TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { PublicKey, SystemProgram } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256 } from '@tollbook/core/digest'
import { genesisHash, type HeldTokens, mint, mintData, paymentWallet, tokenAccountData } from './testToken.ts'

/** Answer to a JSON-RPC call; an error is a refusal of the node, `broken` a 500 without a body. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { code: number; message: string; data?: unknown } }
  | 'broken'

/** A Solana node with one token on it. A test replaces the answers that it is about. */
export interface ScriptedNode {
  readonly answers: Record<string, (params: readonly unknown[]) => NodeAnswer>
  /** The transactions it was given to send, base64. */
  readonly sent: readonly string[]
  readonly calls: readonly string[]
  /** The mint, and the token account of the service. */
  token: readonly [mint: object | null, account: object | null]
  /** Balances of every payer; `owner` when its token account was given to another wallet. */
  payer: { tokens: (HeldTokens & { readonly owner?: PublicKey }) | 'no account'; lamports: number }
  answer(method: string, params: readonly unknown[]): NodeAnswer
}

const blockhash = encodeBase58(sha256('blockhash'))
export const lastValidBlockHeight = 1_150

export function createScriptedNode(): ScriptedNode {
  const sent: string[] = []
  const calls: string[] = []
  const payer: ScriptedNode['payer'] = { tokens: { baseUnits: 1_000_000_000n }, lamports: 1_000_000_000 }
  const answers: ScriptedNode['answers'] = {
    getGenesisHash: () => ({ result: genesisHash }),
    getMultipleAccounts: ([addresses]) => ({ result: { value: accountsOf(node, addressesIn(addresses)) } }),
    getMinimumBalanceForRentExemption: () => ({ result: 890_880 }),
    getLatestBlockhash: () => ({ result: { value: { blockhash, lastValidBlockHeight } } }),
    getEpochInfo: () => finalTip(1_000),
    sendTransaction: () => ({ result: 'sent' }),
    getSignatureStatuses: () => statusAnswer('confirmed'),
  }
  const node: ScriptedNode = {
    answers,
    sent,
    calls,
    token: [accountJson(mintData()), accountJson(tokenAccountData(paymentWallet))],
    payer,
    answer(method, params) {
      calls.push(method)
      if (method === 'sendTransaction') sent.push(String(params[0]))
      const make = answers[method]
      return make === undefined ? { error: { code: -32601, message: `no ${method} here` } } : make(params)
    },
  }
  return node
}

function addressesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** The mint with the account of the service, or the token account of a payer with its wallet. */
function accountsOf({ token, payer }: ScriptedNode, [first, second = '']: readonly string[]) {
  if (first === mint.toBase58()) return token
  const { tokens, lamports } = payer
  const { owner = new PublicKey(second), ...held } = tokens === 'no account' ? {} : tokens
  const wallet = { owner: SystemProgram.programId.toBase58(), data: ['', 'base64'], lamports }
  return [tokens === 'no account' ? null : accountJson(tokenAccountData(owner, held)), lamports === 0 ? null : wallet]
}

const tipSlot = 5_000

/** The newest final block. */
export function finalTip(blockHeight: number): NodeAnswer {
  return { result: { absoluteSlot: tipSlot, blockHeight } }
}

/** In the state of a slot; by default that of the newest final block. */
export function statusAnswer(
  status: 'confirmed' | 'processed' | 'failed' | 'not_found',
  slot: number = tipSlot,
): NodeAnswer {
  const context = { slot }
  if (status === 'not_found') return { result: { context, value: [null] } }
  const confirmationStatus = status === 'processed' ? 'processed' : 'confirmed'
  return {
    result: {
      context,
      value: [{ err: status === 'failed' ? { InstructionError: [1, 'Custom'] } : null, confirmationStatus }],
    },
  }
}

export function accountJson(data: Buffer): object {
  return { owner: TOKEN_PROGRAM_ID.toBase58(), data: [data.toString('base64'), 'base64'], lamports: 2_039_280 }
}
