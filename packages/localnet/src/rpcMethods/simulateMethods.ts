import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { accountJson } from '../accountJson.ts'
import type { Bank, SimulationReport } from '../bank.ts'
import { byteKey } from '../byteKey.ts'
import type { ChainTransaction } from '../chainTransaction.ts'
import { feeLamports } from '../fee.ts'
import { invalidParams } from '../rpcError.ts'
import { type RpcMethods, addressParam, configParam, contextSlot, inContext, rpcMethod } from '../rpcMethod.ts'
import { blockhashWindowSlots } from '../slots.ts'
import type { TransactionError } from '../transactionError.ts'
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
      encoding: z.enum(['base64', 'base64+zstd', 'jsonParsed']).nullish(),
    })
    .nullish(),
})

type SimulateConfig = z.output<typeof simulateConfig>

/**
 * A dry run. Unlike a send it needs no valid signatures unless it is asked to look at them, and unlike a real node's it
 * always starts from the newest state.
 */
export function simulateMethods(bank: Bank): RpcMethods {
  return {
    simulateTransaction: rpcMethod(z.tuple([z.string(), simulateConfig.optional()]), ([text, config]) => {
      const slot = contextSlot(bank, config)
      const transaction = readWireParam(text, config?.encoding ?? 'base58')
      if (config?.replaceRecentBlockhash !== true) {
        const refusal = bank.refusal(transaction)
        return inContext(slot, refusal === undefined ? simulate(bank, transaction, config) : refused(refusal))
      }
      if (config.sigVerify === true) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
      return inContext(slot, { ...simulate(bank, transaction, config), replacementBlockhash: newestBlockhash(bank) })
    }),
  }
}

type SimulationJson = Readonly<Record<string, Json>>

/** The engine does not look at the blockhash, so replacing it changes nothing but the answer. */
function simulate(bank: Bank, transaction: ChainTransaction, config: SimulateConfig): SimulationJson {
  const resolved = resolveOrRefuse(bank, transaction)
  const addresses = config?.accounts?.addresses ?? []
  if (addresses.length > resolved.keys.length) {
    throw invalidParams(`Too many accounts provided; max ${resolved.keys.length}`)
  }
  const report = bank.simulate(resolved, config?.sigVerify === true)
  if (report.outcome.error === 'SignatureFailure') throw signatureFailure()
  return { ...reportJson(report, config), accounts: accountsJson(bank, report, config) }
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
    fee: Number(feeLamports(transaction.message)),
    loadedAddresses: loadedAddressesJson(transaction.loaded),
    preBalances: before.lamports.map(Number),
    postBalances: after.lamports.map(Number),
    preTokenBalances: before.tokens.map(tokenBalanceJson),
    postTokenBalances: after.tokens.map(tokenBalanceJson),
  }
}

/** The accounts that were asked for, as they would be afterwards; null for each when the transaction fails. */
function accountsJson(bank: Bank, report: SimulationReport, config: SimulateConfig): Json {
  const asked = config?.accounts
  if (asked === null || asked === undefined) return null
  const read = (address: Uint8Array) => {
    const key = byteKey(address)
    return report.accounts.has(key) ? report.accounts.get(key) : bank.account(address)
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

function newestBlockhash(bank: Bank): Json {
  const slot = bank.slots.current
  return { blockhash: bank.slots.blockhashOf(slot), lastValidBlockHeight: slot + blockhashWindowSlots }
}
