import { assertPresent } from '@tollbook/core/assert'
import { divideRoundingUp } from '@tollbook/core/money'
import type { Message } from './chainTransaction.ts'
import { type ProgramName, programNameOf } from './programs.ts'

/**
 * Fee that the runtime will charge: 5,000 lamports per signature, including those checked by the precompiles, plus the
 * priority fee. `getFeeForMessage` needs it without executing; a test compares it with the fee really charged.
 */
export function feeLamports(message: Message): bigint {
  const budget = readBudget(message)
  const microLamports = budget.unitPriceMicroLamports * BigInt(Math.min(budget.unitLimit, unitLimitMax))
  return signatureFeeLamports * BigInt(signatureCount(message)) + divideRoundingUp(microLamports, 1_000_000n)
}

interface Budget {
  readonly unitLimit: number
  readonly unitPriceMicroLamports: bigint
}

/** Malformed or doubled budget instructions make the transaction fail before it pays, so they are not looked for. */
function readBudget(message: Message): Budget {
  let unitLimit: number | undefined
  let unitPriceMicroLamports = 0n
  let defaultLimit = 0
  for (const { programIndex, data } of message.instructions) {
    const program = programOf(message, programIndex)
    defaultLimit += program !== undefined && cheapPrograms.has(program) ? cheapUnits : ordinaryUnits
    if (program !== 'computeBudget') continue
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    if (data[0] === setUnitLimit && data.length >= 5) unitLimit = view.getUint32(1, true)
    if (data[0] === setUnitPrice && data.length >= 9) unitPriceMicroLamports = view.getBigUint64(1, true)
  }
  return { unitLimit: unitLimit ?? defaultLimit, unitPriceMicroLamports }
}

/** The first byte of a precompile's instruction says how many signatures it has the runtime check. */
function signatureCount(message: Message): number {
  let count = message.header.requiredSignatures
  for (const { programIndex, data } of message.instructions) {
    const program = programOf(message, programIndex)
    if (program !== undefined && precompiles.has(program)) count += data[0] ?? 0
  }
  return count
}

function programOf(message: Message, index: number): ProgramName | undefined {
  return programNameOf(
    assertPresent(message.staticKeys[index], 'a program index was checked when the message was read'),
  )
}

const signatureFeeLamports = 5_000n
const unitLimitMax = 1_400_000
const ordinaryUnits = 200_000
/** SIMD-170: what a built-in program is given when the transaction sets no limit. */
const cheapUnits = 3_000
const setUnitLimit = 2
const setUnitPrice = 3
const precompiles: ReadonlySet<ProgramName> = new Set(['ed25519', 'secp256k1', 'secp256r1'] as const)
const cheapPrograms: ReadonlySet<ProgramName> = new Set([
  'system',
  'computeBudget',
  'vote',
  'bpfLoader',
  'bpfLoader2',
  'upgradeableLoader',
  'loaderV4',
  'ed25519',
  'secp256k1',
  'secp256r1',
] as const)
