import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { accountJson } from '../accountJson.ts'
import type { SimulationReport } from '../bank.ts'
import type { BankState } from '../bankState.ts'
import { byteKey } from '../byteKey.ts'
import type { ChainNode } from '../chainNode.ts'
import type { ChainTransaction } from '../chainTransaction.ts'
import { invalidParams } from '../rpcError.ts'
import {
  type RpcMethods,
  addressParam,
  commitmentOf,
  configParam,
  contextState,
  inContext,
  rpcMethod,
} from '../rpcMethod.ts'
import { type Commitment, blockhashWindowSlots } from '../slots.ts'
import type { TransactionError } from '../transactionError.ts'
import { chargedLamports } from '../tokenBalances.ts'
import {
  errorJson,
  innerInstructionsJson,
  loadedAddressesJson,
  returnDataJson,
  tokenBalanceJson,
} from '../transactionMeta.ts'
import { readWireParam, wireEncodings } from '../wireParam.ts'
import { resolveOrRefuse, signatureFailure } from './sendMethods.ts'

const simulateConfig = configParam({
  encoding: z.enum(wireEncodings).nullish(),
  sigVerify: z.boolean().nullish(),
  replaceRecentBlockhash: z.boolean().nullish(),
  innerInstructions: z.boolean().nullish(),
  accounts: z
    .object({
      addresses: z.array(addressParam),
      encoding: z.enum(['base64', 'jsonParsed']).nullish(),
    })
    .nullish(),
})

type SimulateConfig = z.output<typeof simulateConfig>

/**
 * A dry run in the state of the commitment. Unlike a send it needs no
 * valid signatures unless it is asked to look at them.
 */
export function simulateMethods(node: ChainNode): RpcMethods {
  return {
    simulateTransaction: rpcMethod(z.tuple([z.string(), simulateConfig.optional()]), ([text, config]) => {
      const state = contextState(node, config)
      const transaction = readWireParam(text, config?.encoding ?? 'base58')
      if (config?.replaceRecentBlockhash !== true) {
        const refusal = node.refusal(transaction, commitmentOf(config))
        return inContext(state.slot, refusal === undefined ? simulate(node, transaction, config) : refused(refusal))
      }
      if (config.sigVerify === true) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
      const replacementBlockhash = newestBlockhash(node, commitmentOf(config))
      return inContext(state.slot, { ...simulate(node, transaction, config), replacementBlockhash })
    }),
  }
}

type SimulationJson = Readonly<Record<string, Json>>

/** The engine does not look at the blockhash, so replacing it changes nothing but the answer. */
function simulate(node: ChainNode, transaction: ChainTransaction, config: SimulateConfig): SimulationJson {
  const resolved = resolveOrRefuse(node, transaction, commitmentOf(config))
  const addresses = config?.accounts?.addresses ?? []
  if (addresses.length > resolved.keys.length) {
    throw invalidParams(`Too many accounts provided; max ${resolved.keys.length}`)
  }
  const report = node.simulate(resolved, commitmentOf(config), config?.sigVerify === true)
  if (report.outcome.error === 'SignatureFailure') throw signatureFailure()
  return { ...reportJson(report, config), accounts: accountsJson(node.state(commitmentOf(config)), report, config) }
}

/** Newer Agave nodes also report balances, fee and loaded addresses; older ones omit them. */
function reportJson({ transaction, outcome, before, after }: SimulationReport, config: SimulateConfig): SimulationJson {
  // In simulations inner instructions are always parsed; there is no encoding to ask for.
  const inner = { keys: transaction.keys, parsed: true }
  return {
    err: errorJson(outcome.error),
    logs: outcome.logs,
    unitsConsumed: Number(outcome.unitsConsumed),
    returnData: outcome.returnData === undefined ? null : returnDataJson(outcome.returnData),
    innerInstructions:
      config?.innerInstructions === true ? innerInstructionsJson(outcome.innerInstructions, inner) : null,
    replacementBlockhash: null,
    fee: Number(chargedLamports(before, after)),
    loadedAddresses: loadedAddressesJson(transaction.loaded),
    preBalances: before.lamports.map(Number),
    postBalances: after.lamports.map(Number),
    preTokenBalances: before.tokens.map(tokenBalanceJson),
    postTokenBalances: after.tokens.map(tokenBalanceJson),
  }
}

/** The accounts that were asked for, as they would be afterwards; null for each when the transaction fails. */
function accountsJson(before: BankState, report: SimulationReport, config: SimulateConfig): Json {
  const asked = config?.accounts
  if (asked === null || asked === undefined) return null
  const read = (address: Uint8Array) => {
    const key = byteKey(address)
    return report.accounts.has(key) ? report.accounts.get(key) : before.account(address)
  }
  const style = { encoding: asked.encoding ?? 'base64', read } as const
  return asked.addresses.map((address) => {
    const state = report.outcome.error === null ? read(address) : undefined
    return state === undefined ? null : accountJson(state, style)
  })
}

/** A transaction that may not be executed has an error and no other trace. */
function refused(error: TransactionError): SimulationJson {
  return {
    err: errorJson(error),
    logs: [],
    accounts: null,
    unitsConsumed: 0,
    returnData: null,
    innerInstructions: null,
    replacementBlockhash: null,
  }
}

function newestBlockhash(node: ChainNode, commitment: Commitment): Json {
  const slot = node.bankSlot(commitment)
  return { blockhash: node.bank.slots.blockhashOf(slot), lastValidBlockHeight: slot + blockhashWindowSlots }
}
