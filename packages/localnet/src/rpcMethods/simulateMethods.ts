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
import type { TransactionError } from '../transactionError.ts'
import { chargedLamports } from '../tokenBalances.ts'
import { innerInstructionsJson, loadedAddressesJson, returnDataJson, tokenBalanceJson } from '../transactionMeta.ts'
import { readWireParam, wireEncodings } from '../wireParam.ts'
import { blockhashJson } from './clusterMethods.ts'
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

/** Unlike `sendTransaction`, verifies signatures only on request. */
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
      const replacementBlockhash = blockhashJson(node, node.bankSlot(commitmentOf(config)))
      return inContext(state.slot, { ...simulate(node, transaction, config), replacementBlockhash })
    }),
  }
}

type SimulationJson = Readonly<Record<string, Json>>

/** Simulates with the original blockhash, because the engine ignores it. */
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

/** Writes the report in the form of newer Agave nodes, which has balances, fee and loaded addresses. */
function reportJson({ transaction, outcome, before, after }: SimulationReport, config: SimulateConfig): SimulationJson {
  // Nodes always parse inner instructions in simulations, because no parameter selects an encoding.
  const inner = { keys: transaction.keys, parsed: true }
  return {
    err: outcome.error,
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

/** Returns the requested accounts after the simulation. If the transaction fails, each account is null. */
function accountsJson(before: BankState, report: SimulationReport, config: SimulateConfig): Json {
  const asked = config?.accounts
  if (asked === null || asked === undefined) return null
  const read = (address: Uint8Array) => {
    const key = byteKey(address)
    return report.accounts.has(key) ? report.accounts.get(key) : before.account(address)
  }
  const style = { encoding: asked.encoding ?? 'base64' } as const
  return asked.addresses.map((address) => {
    const state = report.outcome.error === null ? read(address) : undefined
    return state === undefined ? null : accountJson(state, style)
  })
}

function refused(error: TransactionError): SimulationJson {
  return {
    err: error,
    logs: [],
    accounts: null,
    unitsConsumed: 0,
    returnData: null,
    innerInstructions: null,
    replacementBlockhash: null,
  }
}
