import type { Instruction } from './instruction.ts'

const program = 'ComputeBudget111111111111111111111111111111'

/** `units` for the whole transaction. The default, 200,000 for each instruction, would raise the priority fee. */
export function setComputeUnitLimit(units: number): Instruction {
  const data = new Uint8Array(5)
  data[0] = 2
  new DataView(data.buffer).setUint32(1, units, true)
  return { program, accounts: [], data }
}

/** Priority fee per compute unit, in millionths of a lamport. */
export function setComputeUnitPrice(microLamports: bigint): Instruction {
  const data = new Uint8Array(9)
  data[0] = 3
  new DataView(data.buffer).setBigUint64(1, microLamports, true)
  return { program, accounts: [], data }
}
